import { mountTest } from "../../../test/http/mounts.js"

mountTest("Express 5", "embed-express/dist/main.js")
mountTest("Express 4", "embed-express/dist/main4.js")
