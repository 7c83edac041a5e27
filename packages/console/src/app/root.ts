/** The route around all screens. The router gives it the shell. */
import { createRootRoute } from "@tanstack/react-router"

export const rootRoute = createRootRoute()
