/** How this area is wired: its services, its background work, and what it needs stored. */
import { Layer } from "effect"
import { TaskConversations } from "./TaskConversations.js"
import type { TaskRepository } from "./TaskRepository.js"
import { Tasks } from "./Tasks.js"

export const layer = Layer.mergeAll(TaskConversations.layer, Tasks.layer)

export const workers = []

export type Stored = TaskRepository
