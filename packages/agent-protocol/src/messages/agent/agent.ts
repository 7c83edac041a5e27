import { type Fields, message } from "../Protobuf.js"

/** A message of `coder.agent.v2`. */
export const agent = <const F extends Fields>(name: string, fields: F) => message(`coder.agent.v2.${name}`, fields)
