# An image with nothing but zkfake: docker build -f deploy/zkfake.Dockerfile -t zkfake .
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags=-s -o /zkfake ./cmd/zkfake

FROM scratch
COPY --from=build /zkfake /zkfake
EXPOSE 2181
ENTRYPOINT ["/zkfake", "-listen", "0.0.0.0:2181"]
