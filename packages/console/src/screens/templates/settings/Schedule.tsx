/** When workspaces of a template stop, start, become dormant and end. */
import type { Template } from "@atelier/client"
import * as templates from "@atelier/client/templates"
import { useState } from "react"
import { client } from "../../../app/client.js"
import { queryClient } from "../../../app/queries.js"
import { settingsText } from "../../../texts/templates.js"
import { DayChoice } from "../../../ui/forms/DayChoice.js"
import { Checkbox, Field, Input } from "../../../ui/forms/Field.js"
import { Form, FormActions, SubmitButton } from "../../../ui/forms/Form.js"
import { Section } from "../../../ui/page/Page.js"
import { notify } from "../../../ui/floating/Toast.js"
import { refreshTemplates, templateQuery } from "../queries.js"
import { changedOf } from "./changed.js"
import { SettingsFrame } from "./SettingsFrame.js"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

export const Schedule = () => <SettingsFrame>{(template) => <ScheduleForm key={template.id} template={template} />}</SettingsFrame>

type Day = Template["autostart_requirement"]["days_of_week"][number]

const dayNames = new Set(settingsText.days.map(({ value }) => value))
const isDay = (name: string): name is Day => dayNames.has(name)

/** The lengths of time of the form, each with its unit. */
const units = {
  default_ttl_ms: hour,
  activity_bump_ms: hour,
  time_til_autostop_notify_ms: minute,
  failure_ttl_ms: day,
  time_til_dormant_ms: day,
  time_til_dormant_autodelete_ms: day
} as const

type Length = keyof typeof units

const written = (milliseconds: number, unit: number): string => String(Math.round((milliseconds / unit) * 1_000) / 1_000)

const lengthsOf = (template: Template): Readonly<Record<Length, string>> => ({
  default_ttl_ms: written(template.default_ttl_ms, units.default_ttl_ms),
  activity_bump_ms: written(template.activity_bump_ms, units.activity_bump_ms),
  time_til_autostop_notify_ms: written(template.time_til_autostop_notify_ms, units.time_til_autostop_notify_ms),
  failure_ttl_ms: written(template.failure_ttl_ms, units.failure_ttl_ms),
  time_til_dormant_ms: written(template.time_til_dormant_ms, units.time_til_dormant_ms),
  time_til_dormant_autodelete_ms: written(template.time_til_dormant_autodelete_ms, units.time_til_dormant_autodelete_ms)
})

const isLength = (text: string): boolean => text.trim() !== "" && Number.isFinite(Number(text)) && Number(text) >= 0

/** What the form holds, and how it is saved. */
const useSchedule = (given: Template) => {
  // As it was when the form was opened or saved
  const [template, setTemplate] = useState(given)
  const [lengths, setLengths] = useState(() => lengthsOf(given))
  const [stopDays, setStopDays] = useState<ReadonlyArray<string>>(given.autostop_requirement.days_of_week)
  const [weeks, setWeeks] = useState(String(given.autostop_requirement.weeks))
  const [startDays, setStartDays] = useState<ReadonlyArray<string>>(given.autostart_requirement.days_of_week)
  const [mayStart, setMayStart] = useState(given.allow_user_autostart)
  const [mayStop, setMayStop] = useState(given.allow_user_autostop)
  const [isUseReset, setUseReset] = useState(false)
  const [isDormancyReset, setDormancyReset] = useState(false)
  const before = lengthsOf(template)
  const isChanged = (name: Length): boolean => lengths[name] !== before[name]
  // A length that is not touched stays to the millisecond
  const milliseconds = (name: Length): number => (isChanged(name) ? Math.round(Number(lengths[name]) * units[name]) : template[name])
  const areWeeksRight = /^\d+$/.test(weeks) && Number(weeks) >= 1 && Number(weeks) <= 16
  const isRight = Object.values(lengths).every(isLength) && (stopDays.length === 0 || areWeeksRight)

  const save = async (): Promise<void> => {
    const changed = changedOf(template, {
      default_ttl_ms: milliseconds("default_ttl_ms"),
      activity_bump_ms: milliseconds("activity_bump_ms"),
      time_til_autostop_notify_ms: milliseconds("time_til_autostop_notify_ms"),
      failure_ttl_ms: milliseconds("failure_ttl_ms"),
      time_til_dormant_ms: milliseconds("time_til_dormant_ms"),
      time_til_dormant_autodelete_ms: milliseconds("time_til_dormant_autodelete_ms"),
      autostop_requirement: { days_of_week: stopDays.filter(isDay), weeks: areWeeksRight ? Number(weeks) : 1 },
      autostart_requirement: { days_of_week: startDays.filter(isDay) },
      allow_user_autostart: mayStart,
      allow_user_autostop: mayStop
    })
    if (Object.keys(changed).length === 0) return notify(settingsText.saved)
    const next = await templates.updateTemplate(client, {
      template: template.id,
      body: {
        ...changed,
        ...(isUseReset && isChanged("time_til_dormant_ms") ? { update_workspace_last_used_at: true } : {}),
        ...(isDormancyReset && isChanged("time_til_dormant_autodelete_ms") ? { update_workspace_dormant_at: true } : {})
      }
    })
    queryClient.setQueryData(templateQuery(next.organization_name, next.name).queryKey, next)
    // The fields still show what they showed: with what others changed, they would seem to differ
    const shown = { ...template, ...changed }
    setTemplate(shown)
    setLengths(lengthsOf(shown))
    setUseReset(false)
    setDormancyReset(false)
    notify(settingsText.saved)
    await refreshTemplates()
  }

  return {
    lengths,
    setLength: (name: Length, text: string): void => setLengths({ ...lengths, [name]: text }),
    /** The user has given a new length, which is not "never". */
    isNewly: (name: Length): boolean => isChanged(name) && Number(lengths[name]) > 0,
    stopDays,
    setStopDays,
    weeks,
    setWeeks,
    areWeeksRight,
    startDays,
    setStartDays,
    mayStart,
    setMayStart,
    mayStop,
    setMayStop,
    isUseReset,
    setUseReset,
    isDormancyReset,
    setDormancyReset,
    isRight,
    save
  }
}

interface PartProps {
  readonly schedule: ReturnType<typeof useSchedule>
}

const ScheduleForm = ({ template }: { readonly template: Template }) => {
  const schedule = useSchedule(template)
  return (
    <Form onSubmit={schedule.save}>
      <StopPart schedule={schedule} />
      <StartPart schedule={schedule} />
      <CleanupPart schedule={schedule} />
      <FormActions>
        <SubmitButton disabled={!schedule.isRight}>{settingsText.save}</SubmitButton>
      </FormActions>
    </Form>
  )
}

const LengthField = ({
  hint,
  label,
  name,
  schedule: { lengths, setLength }
}: PartProps & { readonly name: Length; readonly label: string; readonly hint: string }) => (
  <Field label={label} name={name} hint={hint} error={isLength(lengths[name]) ? undefined : settingsText.notNumber}>
    <Input
      type="number"
      min={0}
      step="any"
      inputMode="decimal"
      value={lengths[name]}
      onChange={(event) => setLength(name, event.target.value)}
    />
  </Field>
)

const StopPart = ({ schedule }: PartProps) => {
  const { areWeeksRight, mayStop, setMayStop, setStopDays, setWeeks, stopDays, weeks } = schedule
  return (
    <Section title={settingsText.stop}>
      <div className="tpl-fields">
        <div className="tpl-pair">
          <LengthField schedule={schedule} name="default_ttl_ms" label={settingsText.ttl} hint={settingsText.ttlHint} />
          <LengthField schedule={schedule} name="activity_bump_ms" label={settingsText.bump} hint={settingsText.bumpHint} />
          <LengthField schedule={schedule} name="time_til_autostop_notify_ms" label={settingsText.notify} hint={settingsText.notifyHint} />
        </div>
        <Checkbox label={settingsText.userStop} checked={mayStop} onChange={(event) => setMayStop(event.target.checked)} />
        <Field label={settingsText.requiredStop} name="autostop_requirement.days_of_week" hint={settingsText.requiredStopHint}>
          <DayChoice label={settingsText.requiredStop} days={settingsText.days} chosen={stopDays} onChange={setStopDays} />
        </Field>
        {stopDays.length === 0 ? null : (
          <div className="tpl-pair">
            <Field
              label={settingsText.weeks}
              name="autostop_requirement.weeks"
              hint={settingsText.weeksHint}
              error={areWeeksRight ? undefined : settingsText.notWeeks}
            >
              <Input type="number" min={1} max={16} value={weeks} onChange={(event) => setWeeks(event.target.value)} />
            </Field>
          </div>
        )}
      </div>
    </Section>
  )
}

const StartPart = ({ schedule: { mayStart, setMayStart, setStartDays, startDays } }: PartProps) => (
  <Section title={settingsText.start}>
    <div className="tpl-fields">
      <Checkbox label={settingsText.userStart} checked={mayStart} onChange={(event) => setMayStart(event.target.checked)} />
      <Field label={settingsText.startDays} name="autostart_requirement.days_of_week">
        <DayChoice
          label={settingsText.startDays}
          days={settingsText.days}
          chosen={startDays}
          onChange={setStartDays}
          isDisabled={!mayStart}
        />
      </Field>
    </div>
  </Section>
)

const CleanupPart = ({ schedule }: PartProps) => {
  const { isDormancyReset, isNewly, isUseReset, setDormancyReset, setUseReset } = schedule
  return (
    <Section title={settingsText.cleanup}>
      <div className="tpl-fields">
        <div className="tpl-pair">
          <LengthField schedule={schedule} name="failure_ttl_ms" label={settingsText.failure} hint={settingsText.daysHint} />
          <LengthField schedule={schedule} name="time_til_dormant_ms" label={settingsText.dormant} hint={settingsText.dormantHint} />
          <LengthField
            schedule={schedule}
            name="time_til_dormant_autodelete_ms"
            label={settingsText.autodelete}
            hint={settingsText.autodeleteHint}
          />
        </div>
        {isNewly("time_til_dormant_ms") ? (
          <Checkbox
            label={settingsText.resetUse}
            hint={settingsText.resetUseHint}
            checked={isUseReset}
            onChange={(event) => setUseReset(event.target.checked)}
          />
        ) : null}
        {isNewly("time_til_dormant_autodelete_ms") ? (
          <Checkbox
            label={settingsText.resetDormant}
            hint={settingsText.resetDormantHint}
            checked={isDormancyReset}
            onChange={(event) => setDormancyReset(event.target.checked)}
          />
        ) : null}
      </div>
    </Section>
  )
}
