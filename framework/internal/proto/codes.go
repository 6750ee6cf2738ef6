package proto

// These are error codes of answers, as in KeeperException.Code of ZooKeeper. Between
// CodeAPIError and CodeSystemError are failures of the system. Below CodeAPIError are
// answers to a request that the server has understood.
const (
	CodeOK                      int32 = 0
	CodeSystemError             int32 = -1
	CodeRuntimeInconsistency    int32 = -2
	CodeDataInconsistency       int32 = -3
	CodeConnectionLoss          int32 = -4
	CodeMarshallingError        int32 = -5
	CodeUnimplemented           int32 = -6
	CodeOperationTimeout        int32 = -7
	CodeBadArguments            int32 = -8
	CodeUnknownSession          int32 = -12
	CodeAPIError                int32 = -100
	CodeNoNode                  int32 = -101
	CodeNoAuth                  int32 = -102
	CodeBadVersion              int32 = -103
	CodeNoChildrenForEphemerals int32 = -108
	CodeNodeExists              int32 = -110
	CodeNotEmpty                int32 = -111
	CodeSessionExpired          int32 = -112
	CodeInvalidCallback         int32 = -113
	CodeInvalidACL              int32 = -114
	CodeAuthFailed              int32 = -115
	CodeSessionMoved            int32 = -118
	CodeNotReadOnly             int32 = -119
	CodeEphemeralOnLocalSession int32 = -120
	CodeNoWatcher               int32 = -121
	CodeRequestTimeout          int32 = -122
	CodeReconfigDisabled        int32 = -123
	CodeSessionClosedNeedsSASL  int32 = -124
	CodeQuotaExceeded           int32 = -125
	CodeThrottled               int32 = -127
)
