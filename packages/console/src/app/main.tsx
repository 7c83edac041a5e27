/** The start of the application. */
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import "../theme/tokens.css"
import "../theme/base.css"
import { Toasts } from "../ui/floating/Toast.js"
import { TooltipProvider } from "../ui/floating/Tooltip.js"
import { queryClient } from "./queries.js"
import { router } from "./router.js"
import { appearanceQuery, meQuery, organizationsQuery } from "./session.js"
import { followTheme } from "./theme.js"

followTheme()

// Asked for before the first screen is drawn
for (const ask of [
  () => queryClient.prefetchQuery(meQuery),
  () => queryClient.prefetchQuery(organizationsQuery),
  () => queryClient.prefetchQuery(appearanceQuery)
])
  void ask()

const root = document.querySelector("#root")
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <TooltipProvider>
          <RouterProvider router={router} />
          <Toasts />
        </TooltipProvider>
      </QueryClientProvider>
    </StrictMode>
  )
}
