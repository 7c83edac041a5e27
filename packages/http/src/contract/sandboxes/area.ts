/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { files } from "./files.js"
import { processes } from "./processes.js"
import { ssh } from "./ssh.js"

export const area = HttpApi.make("sandboxes").add(files).add(processes).add(ssh)
