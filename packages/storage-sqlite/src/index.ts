export * as Sqlite from "./Sqlite.js"
