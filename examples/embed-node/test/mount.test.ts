import { mountTest } from "../../../test/http/mounts.js"

mountTest("node:http", "embed-node/dist/main.js")
