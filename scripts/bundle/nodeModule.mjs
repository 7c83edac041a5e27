// Stands for Node's module of the same name in the bundled server.
import { createRequireBeside } from "./ownFiles.mjs"

export const createRequire = createRequireBeside(import.meta.url)
