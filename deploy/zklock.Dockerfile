# An image with nothing but zklock: docker build -f deploy/zklock.Dockerfile -t zklock .
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags=-s -o /zklock ./cmd/zklock

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /zklock /zklock
ENTRYPOINT ["/zklock"]
