export * as Postgres from "./Postgres.js"
