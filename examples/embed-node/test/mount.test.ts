import { mountTest } from "../../../test/mounts.js"

mountTest("node:http", "embed-node/dist/main.js")
