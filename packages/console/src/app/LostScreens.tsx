/** The screens for what does not exist, and for what failed in the console itself. */
import type { ErrorComponentProps } from "@tanstack/react-router"
import { AtelierError } from "@atelier/client"
import { Bug, CloudOff, Compass } from "lucide-react"
import { useEffect } from "react"
import { errorText } from "../texts/ui.js"
import { shellText } from "../texts/shell.js"
import { Button, ButtonLink } from "../ui/forms/Button.js"
import { Code } from "../ui/text/Code.js"
import { Empty, ErrorState } from "../ui/page/States.js"
import { FilesLost } from "./lazy.js"
import { queryClient } from "./queries.js"
import { reloadOnce } from "./reload.js"

export const NotFoundScreen = () => (
  <Empty
    isScreen
    icon={<Compass />}
    title={shellText.notFound}
    action={
      <ButtonLink kind="primary" to="/workspaces">
        {shellText.home}
      </ButtonLink>
    }
  >
    {shellText.notFoundHint}
  </Empty>
)

const FilesLostScreen = () => {
  useEffect(reloadOnce, [])
  return (
    <Empty
      isScreen
      icon={<CloudOff />}
      title={errorText.filesLost}
      action={
        <Button kind="primary" onClick={() => location.reload()}>
          {errorText.reload}
        </Button>
      }
    >
      {errorText.filesLostHint}
    </Empty>
  )
}

/** Catches what a screen throws. */
export const CrashScreen = ({ error, reset }: ErrorComponentProps) => {
  if (error instanceof AtelierError) {
    const retry = (): void => {
      // Who is signed in is asked for above all screens: what failed there would fail again, and is not asked for anew
      void queryClient.resetQueries({ predicate: ({ state }) => state.status === "error" && state.data === undefined })
      reset()
    }
    return <ErrorState isScreen error={error} onRetry={retry} />
  }
  if (error instanceof FilesLost) return <FilesLostScreen />
  return (
    <Empty
      isScreen
      icon={<Bug />}
      title={errorText.crashed}
      action={
        <Button kind="primary" onClick={() => location.reload()}>
          {errorText.reload}
        </Button>
      }
    >
      <p>{errorText.crashedHint}</p>
      <Code isWrapped text={error instanceof Error ? `${error.name}: ${error.message}` : String(error)} />
    </Empty>
  )
}
