/** Whether workspaces are made before anyone asks for them. */
import * as prebuilds from "@atelier/client/prebuilds"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { client, statusOf } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { deploymentText, prebuildsText } from "../../texts/deployment.js"
import { Callout } from "../../ui/page/Callout.js"
import { Switch } from "../../ui/forms/Field.js"
import { Loaded } from "../../ui/lists/List.js"
import { Section } from "../../ui/page/Page.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { DeploymentFrame } from "./DeploymentFrame.js"

const queryKey = ["prebuilds", "settings"]

export const Prebuilds = () => {
  const may = useMay({ update: { on: "deployment_config", to: "update" } })
  const queryClient = useQueryClient()
  const query = useQuery({ queryKey, queryFn: ({ signal }) => prebuilds.getPrebuildsSettings(client, { signal }) })
  const change = useMutation({
    mutationFn: (reconciliation_paused: boolean) =>
      prebuilds.updatePrebuildsSettings(client, { body: { reconciliation_paused } }).catch((error: unknown) => {
        // Another administrator has just done the same
        if (statusOf(error) !== 304) throw error
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey })
      notify(deploymentText.saved)
    },
    onError: notifyError
  })
  return (
    <DeploymentFrame>
      <Section title={prebuildsText.title} description={prebuildsText.hint}>
        {statusOf(query.error) === 403 ? (
          <Callout title={prebuildsText.off} />
        ) : (
          <Loaded query={query} lines={1}>
            {({ reconciliation_paused }) => (
              <Switch
                label={prebuildsText.pause}
                hint={prebuildsText.pauseHint}
                checked={change.isPending ? change.variables : reconciliation_paused}
                disabled={!may.update || change.isPending}
                onChange={(event) => change.mutate(event.target.checked)}
              />
            )}
          </Loaded>
        )}
      </Section>
    </DeploymentFrame>
  )
}
