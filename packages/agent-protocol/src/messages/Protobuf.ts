/**
 * Protobuf messages declared as data: a message is a table of named fields, each with its number and type; the TypeScript types are inferred from it.
 *
 * - Scalars without explicit presence are always there when decoded; messages, `optional` fields and oneofs are absent keys when not sent.
 * - To encode, every field may be left out.
 * - Enumerations read as the name of their value, or as the number when the name is not known here.
 * - Maps are `ReadonlyMap`s: keys chosen by the peer never become property names.
 */
export * from "./protobuf/Field.js"
export * from "./protobuf/Message.js"
export * from "./protobuf/Scalar.js"
export { maximumDepth, maximumElements } from "./protobuf/Source.js"
export * from "./protobuf/Type.js"
