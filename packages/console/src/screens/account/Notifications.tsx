import type { NotificationPreference, NotificationTemplate } from "@atelier/client"
import * as notifications from "@atelier/client/notifications"
import { useMutation, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { BellOff } from "lucide-react"
import { client } from "../../app/client.js"
import { notificationTemplatesQuery } from "../../app/notificationTemplates.js"
import { queryClient } from "../../app/queries.js"
import { accountText, notificationText } from "../../texts/account.js"
import { Button } from "../../ui/forms/Button.js"
import { Callout } from "../../ui/page/Callout.js"
import { Switch } from "../../ui/forms/Field.js"
import { Section } from "../../ui/page/Page.js"
import { Empty, ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { SettingsFrame } from "./SettingsFrame.js"

const preferencesKey = ["notification-preferences"]

const isOn = ({ enabled_by_default, id }: NotificationTemplate, preferences: ReadonlyArray<NotificationPreference>): boolean => {
  const own = preferences.find((preference) => preference.id === id)
  return own === undefined ? enabled_by_default : !own.disabled
}

/** What the user is told of. */
export const Notifications = () => {
  const { disabled } = useSearch({ from: "/settings/notifications" })
  const navigate = useNavigate()
  const templates = useQuery(notificationTemplatesQuery)
  const preferences = useQuery({
    queryKey: preferencesKey,
    queryFn: ({ signal }) => notifications.getNotificationPreferences(client, { user: "me" }, { signal })
  })
  const choose = useMutation({
    mutationFn: async ({ id, isOn }: { readonly id: string; readonly isOn: boolean }) => {
      const body = { template_disabled_map: { [id]: !isOn } }
      queryClient.setQueryData(preferencesKey, await notifications.updateNotificationPreferences(client, { user: "me", body }))
      notify(accountText.saved)
    },
    onError: notifyError
  })

  const content = () => {
    const failed = [templates, preferences].find(({ isLoadingError }) => isLoadingError)
    if (failed !== undefined)
      return <ErrorState error={failed.error} onRetry={() => Promise.all([templates.refetch(), preferences.refetch()])} />
    if (templates.data === undefined || preferences.data === undefined)
      return (
        <Section>
          <SkeletonLines count={6} />
        </Section>
      )
    const known = preferences.data
    if (templates.data.length === 0) return <Empty icon={<BellOff />} title={notificationText.empty} />
    const named = templates.data.find(({ id }) => id === disabled)
    const groups = [...new Set(templates.data.map(({ group }) => group))]
    return (
      <>
        {named !== undefined && isOn(named, known) ? (
          <Callout
            kind="info"
            title={notificationText.stopTitle(named.name)}
            action={
              <Button
                isBusy={choose.isPending}
                onClick={() => {
                  choose.mutate(
                    { id: named.id, isOn: false },
                    { onSuccess: () => void navigate({ to: "/settings/notifications", replace: true }) }
                  )
                }}
              >
                {notificationText.stop}
              </Button>
            }
          >
            {notificationText.stopHint}
          </Callout>
        ) : null}
        {groups.map((group) => (
          <Section key={group} title={group}>
            <div className="account-switches">
              {templates.data
                .filter((template) => template.group === group)
                .map((template) => (
                  <Switch
                    key={template.id}
                    label={template.name}
                    hint={template.method === "" ? undefined : notificationText.method(template.method)}
                    checked={isOn(template, known)}
                    onChange={(event) => choose.mutate({ id: template.id, isOn: event.target.checked })}
                  />
                ))}
            </div>
          </Section>
        ))}
      </>
    )
  }

  return <SettingsFrame title={accountText.notifications}>{content()}</SettingsFrame>
}
