import type { NotificationTemplate } from "@atelier/client"
import * as notifications from "@atelier/client/notifications"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Send } from "lucide-react"
import { Fragment } from "react"
import { client } from "../../app/client.js"
import { notificationTemplatesQuery } from "../../app/notificationTemplates.js"
import { useMay } from "../../app/session.js"
import { deploymentText, methodsText } from "../../texts/deployment.js"
import { Button } from "../../ui/forms/Button.js"
import { Select, Switch } from "../../ui/forms/Field.js"
import { Section } from "../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { DeploymentFrame } from "./DeploymentFrame.js"

const named = (method: string): string =>
  method === "smtp" || method === "webhook" || method === "inbox" ? methodsText.methods[method] : method

export const NotificationMethods = () => {
  const may = useMay({
    update: { on: "deployment_config", to: "update" },
    templates: { on: "notification_template", to: "update" }
  })
  const test = useMutation({
    mutationFn: () => notifications.sendTestNotification(client),
    onSuccess: () => notify(methodsText.tested),
    onError: notifyError
  })
  return (
    <DeploymentFrame
      actions={
        may.update ? (
          <Button icon={<Send />} isBusy={test.isPending} onClick={() => test.mutate()}>
            {methodsText.test}
          </Button>
        ) : undefined
      }
    >
      <Pause mayUpdate={may.update} />
      <Events mayUpdate={may.templates} />
    </DeploymentFrame>
  )
}

const Pause = ({ mayUpdate }: { readonly mayUpdate: boolean }) => {
  const queryKey = ["notification-settings"]
  const queryClient = useQueryClient()
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => notifications.getNotificationsSettings(client, { signal })
  })
  const change = useMutation({
    mutationFn: (notifier_paused: boolean) => notifications.updateNotificationsSettings(client, { body: { notifier_paused } }),
    onSuccess: (settings) => {
      queryClient.setQueryData(queryKey, settings)
      notify(deploymentText.saved)
    },
    onError: notifyError
  })
  return (
    <Section>
      {isLoadingError ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <SkeletonLines count={1} />
      ) : (
        <Switch
          label={methodsText.paused}
          hint={methodsText.pausedHint}
          checked={change.isPending ? change.variables : data.notifier_paused}
          disabled={!mayUpdate || change.isPending}
          onChange={(event) => change.mutate(event.target.checked)}
        />
      )}
    </Section>
  )
}

const Events = ({ mayUpdate }: { readonly mayUpdate: boolean }) => {
  const queryClient = useQueryClient()
  const templates = useQuery(notificationTemplatesQuery)
  const methods = useQuery({
    queryKey: ["notification-methods"],
    queryFn: ({ signal }) => notifications.getNotificationDispatchMethods(client, { signal })
  }).data?.[0]
  const change = useMutation({
    mutationFn: ({ method, template }: { readonly template: NotificationTemplate; readonly method: string }) =>
      notifications.updateNotificationTemplateMethod(client, { notification_template: template.id, body: { method } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: notificationTemplatesQuery.queryKey })
      notify(deploymentText.saved)
    },
    onError: notifyError
  })
  const groups = Array.from(new Set((templates.data ?? []).map(({ group }) => group)))
  const standard = named(methods?.default ?? "smtp")
  return (
    <Section isFlush title={methodsText.events} description={methodsText.eventsHint}>
      {templates.isLoadingError ? (
        <ErrorState error={templates.error} onRetry={templates.refetch} />
      ) : templates.data === undefined ? (
        <SkeletonLines count={6} />
      ) : (
        groups.map((group) => (
          <Fragment key={group}>
            <div className="event-group">{group}</div>
            {templates.data
              .filter((template) => template.group === group)
              .map((template) => (
                <div key={template.id} className="event-row">
                  <span>
                    {template.name}
                    {template.enabled_by_default ? null : <span className="faint"> · {methodsText.off}</span>}
                  </span>
                  <Select
                    aria-label={methodsText.method(template.name)}
                    value={template.method}
                    disabled={!mayUpdate || change.isPending}
                    onChange={(event) => change.mutate({ template, method: event.target.value })}
                    choices={[
                      { value: "", label: methodsText.byDefault(standard) },
                      ...(methods?.available ?? []).map((method) => ({ value: method, label: named(method) }))
                    ]}
                  />
                </div>
              ))}
          </Fragment>
        ))
      )}
    </Section>
  )
}
