/** How this area is wired: its services, its background work, and what it needs stored. */
import { TaskConversations } from "./TaskConversations.js"
import type { TaskRepository } from "./TaskRepository.js"
import { Tasks } from "./Tasks.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(TaskConversations.layer, Tasks.layer)

export const workers = []

export type Stored = TaskRepository
