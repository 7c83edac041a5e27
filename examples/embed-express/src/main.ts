/** Runs the application: `node main.js PORT DIRECTORY`. It ends by itself when SIGTERM has disposed of it. */
import express from "express"
import { start } from "./app.js"

const [port = "3000", directory = "."] = process.argv.slice(2)
const { dispose } = await start(express, Number(port), directory)
process.once("SIGTERM", () => void dispose())
process.stdout.write("listening\n")
