/** How much a line of a log matters to who reads it. */
import { Schema } from "effect"

export const LogLevel = Schema.Literal("trace", "debug", "info", "warn", "error")
export type LogLevel = typeof LogLevel.Type
