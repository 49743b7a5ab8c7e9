import protobuf from "protobufjs";

/** The part of the API's messages that the emulator serves, written from their names, numbers and types. */
const source = `
syntax = "proto2";

message ClientOriginatedMessage {
  optional int64 id = 1;
  oneof submessage {
    GetBufferRequest get_buffer_request = 100;
    NotificationRequest notification_request = 103;
    SetProfilePropertyRequest set_profile_property_request = 105;
    ListSessionsRequest list_sessions_request = 106;
    SendTextRequest send_text_request = 107;
    CreateTabRequest create_tab_request = 108;
    SplitPaneRequest split_pane_request = 109;
    ActivateRequest activate_request = 114;
    VariableRequest variable_request = 115;
    CloseRequest close_request = 131;
  }
}
message ServerOriginatedMessage {
  optional int64 id = 1;
  oneof submessage {
    string error = 2;
    GetBufferResponse get_buffer_response = 100;
    NotificationResponse notification_response = 103;
    SetProfilePropertyResponse set_profile_property_response = 105;
    ListSessionsResponse list_sessions_response = 106;
    SendTextResponse send_text_response = 107;
    CreateTabResponse create_tab_response = 108;
    SplitPaneResponse split_pane_response = 109;
    ActivateResponse activate_response = 114;
    VariableResponse variable_response = 115;
    CloseResponse close_response = 131;
    Notification notification = 1000;
  }
}

message Point { optional int32 x = 1; optional int32 y = 2; }
message Size { optional int32 width = 1; optional int32 height = 2; }
message Frame { optional Point origin = 1; optional Size size = 2; }
message SessionSummary {
  optional string unique_identifier = 1;
  optional Frame frame = 2;
  optional Size grid_size = 3;
  optional string title = 4;
}
message SplitTreeNode {
  message SplitTreeLink { oneof child { SessionSummary session = 1; SplitTreeNode node = 2; } }
  optional bool vertical = 1;
  repeated SplitTreeLink links = 2;
}
message ListSessionsRequest {}
message ListSessionsResponse {
  message Tab { optional SplitTreeNode root = 3; optional string tab_id = 2; repeated SessionSummary minimized_sessions = 6; }
  message Window { repeated Tab tabs = 1; optional string window_id = 2; optional Frame frame = 3; optional int32 number = 4; }
  repeated Window windows = 1;
  repeated SessionSummary buried_sessions = 2;
}

message ProfileProperty { optional string key = 1; optional string json_value = 2; }
message SplitPaneRequest {
  enum SplitDirection { VERTICAL = 0; HORIZONTAL = 1; }
  optional string session = 1;
  optional SplitDirection split_direction = 2;
  optional bool before = 3;
  optional string profile_name = 4;
  repeated ProfileProperty custom_profile_properties = 5;
}
message SplitPaneResponse {
  enum Status { OK = 0; SESSION_NOT_FOUND = 1; INVALID_PROFILE_NAME = 2; CANNOT_SPLIT = 3; MALFORMED_CUSTOM_PROFILE_PROPERTY = 4; }
  optional Status status = 1;
  repeated string session_id = 2;
}
message CreateTabRequest {
  optional string profile_name = 1;
  optional string window_id = 2;
  optional uint32 tab_index = 3;
  optional string command = 4;
  repeated ProfileProperty custom_profile_properties = 5;
  optional bool select_tab = 6;
}
message CreateTabResponse {
  enum Status { OK = 0; INVALID_PROFILE_NAME = 1; INVALID_WINDOW_ID = 2; INVALID_TAB_INDEX = 3; MISSING_SUBSTITUTION = 4; }
  optional Status status = 1;
  optional string window_id = 2;
  optional int32 tab_id = 3;
  optional string session_id = 4;
}
message SetProfilePropertyRequest {
  message GuidList { repeated string guids = 1; }
  message Assignment { optional string key = 1; optional string json_value = 2; }
  oneof target { string session = 1; GuidList guid_list = 2; }
  optional string key = 3;
  optional string json_value = 4;
  repeated Assignment assignments = 5;
}
message SetProfilePropertyResponse {
  enum Status { OK = 0; SESSION_NOT_FOUND = 1; REQUEST_MALFORMED = 2; BAD_GUID = 3; }
  optional Status status = 1;
}

message SendTextRequest { optional string session = 1; optional string text = 2; optional bool suppress_broadcast = 3; }
message SendTextResponse { enum Status { OK = 0; SESSION_NOT_FOUND = 1; } optional Status status = 1; }
message Coord { optional int32 x = 1; optional int64 y = 2; }
message Range { optional int64 location = 1; optional int64 length = 2; }
message LineRange { optional bool screen_contents_only = 1; optional int32 trailing_lines = 2; }
message GetBufferRequest { optional string session = 1; optional LineRange line_range = 2; optional bool include_styles = 3; }
message LineContents {
  enum Continuation { CONTINUATION_HARD_EOL = 1; CONTINUATION_SOFT_EOL = 2; }
  optional string text = 1;
  optional Continuation continuation = 3;
}
message GetBufferResponse {
  enum Status { OK = 0; SESSION_NOT_FOUND = 1; INVALID_LINE_RANGE = 2; REQUEST_MALFORMED = 3; }
  optional Status status = 1;
  optional Range range = 2;
  repeated LineContents contents = 3;
  optional Coord cursor = 4;
  optional int64 num_lines_above_screen = 5;
}

message VariableRequest {
  message Set { optional string name = 1; optional string value = 2; }
  oneof scope { string session_id = 1; string tab_id = 4; bool app = 5; string window_id = 6; }
  repeated Set set = 2;
  repeated string get = 3;
}
message VariableResponse {
  enum Status { OK = 0; SESSION_NOT_FOUND = 1; INVALID_NAME = 2; MISSING_SCOPE = 3; TAB_NOT_FOUND = 4; MULTI_GET_DISALLOWED = 5; WINDOW_NOT_FOUND = 6; }
  optional Status status = 1;
  repeated string values = 2;
}
message ActivateRequest {
  message App { optional bool raise_all_windows = 1; optional bool ignoring_other_apps = 2; }
  oneof identifier { string window_id = 1; string tab_id = 2; string session_id = 3; }
  optional bool order_window_front = 4;
  optional bool select_tab = 5;
  optional bool select_session = 6;
  optional App activate_app = 7;
}
message ActivateResponse { enum Status { OK = 0; BAD_IDENTIFIER = 1; INVALID_OPTION = 2; } optional Status status = 1; }
message CloseRequest {
  message CloseTabs { repeated string tab_ids = 1; }
  message CloseSessions { repeated string session_ids = 1; }
  message CloseWindows { repeated string window_ids = 1; }
  oneof target { CloseTabs tabs = 1; CloseSessions sessions = 2; CloseWindows windows = 3; }
  optional bool force = 4;
}
message CloseResponse { enum Status { OK = 0; NOT_FOUND = 1; USER_DECLINED = 2; } repeated Status statuses = 1; }

message NotificationRequest {
  optional string session = 1;
  optional bool subscribe = 2;
  optional int32 notification_type = 3;
}
message NotificationResponse {
  enum Status { OK = 0; SESSION_NOT_FOUND = 1; REQUEST_MALFORMED = 2; NOT_SUBSCRIBED = 3; ALREADY_SUBSCRIBED = 4; DUPLICATE_SERVER_ORIGINATED_RPC = 5; INVALID_IDENTIFIER = 6; }
  optional Status status = 1;
}
message NewSessionNotification { optional string session_id = 1; }
message TerminateSessionNotification { optional string session_id = 1; }
message LayoutChangedNotification { optional ListSessionsResponse list_sessions_response = 1; }
message Notification {
  optional NewSessionNotification new_session_notification = 6;
  optional TerminateSessionNotification terminate_session_notification = 7;
  optional LayoutChangedNotification layout_changed_notification = 8;
}
`;

const { root } = protobuf.parse(source, { keepCase: true });
const client = root.lookupType("ClientOriginatedMessage");
const server = root.lookupType("ServerOriginatedMessage");

// biome-ignore lint/suspicious/noExplicitAny: a message of the wire, by the names of its fields
export type Message = any;

/** Both directions, so that a test can be a client of its own. */
export const wire = {
  client: coder(client),
  server: coder(server),
};

function coder(type: protobuf.Type) {
  return {
    encode: (message: Message): Uint8Array => type.encode(type.fromObject(message)).finish(),
    decode: (bytes: Uint8Array): Message =>
      type.toObject(type.decode(bytes), { longs: Number, enums: String, arrays: true, oneofs: true }),
  };
}
