import * as quietHours from "@atelier/client/quietHours"
import { useQuery } from "@tanstack/react-query"
import { Moon } from "lucide-react"
import { useState } from "react"
import { client, statusOf } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { accountText, scheduleText } from "../../texts/account.js"
import { Button } from "../../ui/forms/Button.js"
import { Combobox } from "../../ui/forms/Combobox.js"
import { Field, Input } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { PropertyList, Section } from "../../ui/page/Page.js"
import { Empty, ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { Time } from "../../ui/page/Time.js"
import { notify } from "../../ui/floating/Toast.js"
import { SettingsFrame } from "./SettingsFrame.js"
import { textIn } from "./textIn.js"

const hoursKey = ["me", "quiet-hours"]

const zones = (): ReadonlyArray<string> => ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")]

/** When the user's workspaces may be stopped. */
export const Schedule = () => {
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: hoursKey,
    queryFn: ({ signal }) => quietHours.getQuietHours(client, { user: "me" }, { signal })
  })
  const content = () => {
    // A deployment without the feature has no such address
    if (statusOf(error) === 403 || statusOf(error) === 404) return <Empty icon={<Moon />} title={scheduleText.missing} />
    if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
    return data === undefined ? <SkeletonLines /> : <HoursForm key={data[0].raw_schedule} hours={data[0]} />
  }
  return (
    <SettingsFrame title={accountText.schedule}>
      <Section title={scheduleText.title} description={scheduleText.description}>
        {content()}
      </Section>
    </SettingsFrame>
  )
}

type Hours = Awaited<ReturnType<typeof quietHours.getQuietHours>>[0]

const HoursForm = ({ hours: { next, time, timezone, user_can_set, user_set } }: { readonly hours: Hours }) => {
  const [zone, setZone] = useState(timezone)
  const save = async (form: FormData): Promise<void> => {
    const [hour = "0", minute = "0"] = textIn(form, "schedule").split(":")
    const schedule = `CRON_TZ=${zone} ${Number(minute)} ${Number(hour)} * * *`
    queryClient.setQueryData(hoursKey, await quietHours.updateQuietHours(client, { user: "me", body: { schedule } }))
    notify(accountText.saved)
  }
  return (
    <>
      <Form className="account-form" onSubmit={save}>
        <Field label={scheduleText.time} name="schedule" hint={user_set ? undefined : scheduleText.usual}>
          <Input type="time" defaultValue={time.padStart(5, "0")} disabled={!user_can_set} required />
        </Field>
        <Field label={scheduleText.zone}>
          <Combobox
            label={scheduleText.zone}
            value={zone}
            onChange={setZone}
            isDisabled={!user_can_set}
            choices={zones().map((name) => ({ value: name, label: name }))}
          />
        </Field>
        {user_can_set ? (
          <FormActions>
            <Button type="submit" kind="primary">
              {accountText.save}
            </Button>
          </FormActions>
        ) : (
          <p className="muted">{scheduleText.fixed}</p>
        )}
      </Form>
      <PropertyList properties={[{ label: scheduleText.next, value: <Time at={next} /> }]} />
    </>
  )
}
