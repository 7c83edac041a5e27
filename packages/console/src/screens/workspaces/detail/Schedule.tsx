/** When a workspace starts and stops by itself. */
import type { Workspace } from "@atelier/client"
import * as templates from "@atelier/client/templates"
import * as workspaceSettings from "@atelier/client/workspaceSettings"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../../../app/client.js"
import { queryClient } from "../../../app/queries.js"
import { settingsText } from "../../../texts/workspace.js"
import { Callout } from "../../../ui/page/Callout.js"
import { Combobox } from "../../../ui/forms/Combobox.js"
import { DayChoice } from "../../../ui/forms/DayChoice.js"
import { Field, Input, Switch } from "../../../ui/forms/Field.js"
import { Form, FormActions, SubmitButton } from "../../../ui/forms/Form.js"
import { Section } from "../../../ui/page/Page.js"
import { notify } from "../../../ui/floating/Toast.js"
import { parseSchedule, writeSchedule } from "./schedule.js"
import { useWorkspaceQuery } from "./workspace.js"
import "./Schedule.css"

export const Schedule = () => {
  const { data: workspace } = useWorkspaceQuery()
  return workspace === undefined ? null : <Loaded key={workspace.id} workspace={workspace} />
}

const hour = 3_600_000
const workdays = [1, 2, 3, 4, 5]
const usualHours = 8

const Loaded = ({ workspace }: { readonly workspace: Workspace }) => {
  const { autostart_schedule = "", id, template_id, ttl_ms = 0 } = workspace
  const { data: template } = useQuery({
    queryKey: ["templates", "one", template_id],
    queryFn: ({ signal }) => templates.getTemplate(client, { template: template_id }, { signal })
  })
  const written = parseSchedule(autostart_schedule)
  const [starts, setStarts] = useState(autostart_schedule !== "")
  const [schedule, setSchedule] = useState(
    written ?? { hour: 9, minute: 0, days: workdays, zone: Intl.DateTimeFormat().resolvedOptions().timeZone }
  )
  const [stops, setStops] = useState(ttl_ms > 0)
  const [hours, setHours] = useState(String(ttl_ms > 0 ? ttl_ms / hour : usualHours))
  const mayStart = template?.allow_user_autostart !== false
  const mayStop = template?.allow_user_autostop !== false

  const save = async (): Promise<void> => {
    if (mayStart)
      await workspaceSettings.setWorkspaceAutostart(client, { workspace: id, body: { schedule: starts ? writeSchedule(schedule) : "" } })
    if (mayStop)
      await workspaceSettings.setWorkspaceTtl(client, { workspace: id, body: { ttl_ms: stops ? Math.round(Number(hours) * hour) : 0 } })
    notify(settingsText.saved)
    await queryClient.invalidateQueries({ queryKey: ["workspaces"] })
  }

  const zones = Intl.supportedValuesOf("timeZone")
  return (
    <Section title={settingsText.scheduleTitle}>
      <Form onSubmit={save}>
        <Switch
          label={settingsText.autostart}
          hint={mayStart ? settingsText.autostartHint : settingsText.autostartOff}
          checked={starts}
          disabled={!mayStart}
          onChange={(event) => setStarts(event.target.checked)}
        />
        {starts ? (
          <div className="sch-fields">
            {autostart_schedule !== "" && written === undefined ? (
              <Callout kind="warning" title={settingsText.custom}>
                <span className="mono">{autostart_schedule}</span>
              </Callout>
            ) : null}
            <Field label={settingsText.days} name="schedule">
              <DayChoice
                label={settingsText.days}
                days={settingsText.dayNames.map((label, day) => ({ value: String(day), label }))}
                chosen={schedule.days.map(String)}
                onChange={(days) => setSchedule({ ...schedule, days: days.map(Number) })}
              />
            </Field>
            <div className="sch-when">
              <Field label={settingsText.time}>
                <Input
                  type="time"
                  value={`${String(schedule.hour).padStart(2, "0")}:${String(schedule.minute).padStart(2, "0")}`}
                  onChange={(event) => {
                    const [hour = 0, minute = 0] = event.target.value.split(":").map(Number)
                    setSchedule({ ...schedule, hour, minute })
                  }}
                />
              </Field>
              <Field label={settingsText.zone}>
                <Combobox
                  label={settingsText.zone}
                  value={schedule.zone}
                  onChange={(zone) => setSchedule({ ...schedule, zone })}
                  choices={[...new Set(["UTC", schedule.zone, ...zones])].map((zone) => ({ value: zone, label: zone }))}
                />
              </Field>
            </div>
          </div>
        ) : null}
        <Switch
          label={settingsText.autostop}
          hint={mayStop ? settingsText.autostopHint : settingsText.autostartOff}
          checked={stops}
          disabled={!mayStop}
          onChange={(event) => setStops(event.target.checked)}
        />
        {stops ? (
          <div className="sch-fields">
            <Field label={settingsText.hours} name="ttl_ms">
              <Input
                type="number"
                min={0.1}
                step="any"
                value={hours}
                disabled={!mayStop}
                onChange={(event) => setHours(event.target.value)}
              />
            </Field>
          </div>
        ) : null}
        <FormActions>
          <SubmitButton disabled={(starts && schedule.days.length === 0) || (stops && !(Number(hours) > 0))}>
            {settingsText.save}
          </SubmitButton>
        </FormActions>
      </Form>
    </Section>
  )
}
