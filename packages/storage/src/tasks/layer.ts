/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/tasks"
import type { Layer } from "effect"
import { layer as tasks } from "./TaskRepository.js"
import tasksMigration from "./migrations/0150_tasks.js"
import type { Statements } from "../platform/Statements.js"

export const layer = tasks satisfies Layer.Layer<Stored, never, Statements>

export const migrations = { "0150_tasks": tasksMigration }
