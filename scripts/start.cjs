// Runs the program of this checkout, which keeps what it stores here unless an option names another place.
const { join } = require("node:path")

process.env.ATELIER_DATA_DIRECTORY ??= join(__dirname, "..")
require("../packages/atelier/dist/program.cjs")
