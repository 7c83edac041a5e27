import { map, message, string, type TypeOf } from "../messages/Protobuf.js"

/** The metadata that a client may send before a call: names and values, such as a trace id. Spec: agents-and-apps.md §13, kind 7. */
export const InvokeMetadata = message("drpc.InvokeMetadata", { entries: map(1, string, string) })
export type InvokeMetadata = TypeOf<typeof InvokeMetadata>
