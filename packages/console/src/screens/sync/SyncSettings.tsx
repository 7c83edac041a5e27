/** How something follows from a claim of an identity provider: the claim, the mapping of its values, and a preview. */
import * as deployment from "@atelier/client/deployment"
import { useMutation, useQuery } from "@tanstack/react-query"
import { Plus, Trash2, X } from "lucide-react"
import { useId, useMemo, useState } from "react"
import { client } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { syncText } from "../../texts/sync.js"
import { Badge } from "../../ui/page/Badge.js"
import { IconButton } from "../../ui/forms/Button.js"
import { Callout } from "../../ui/page/Callout.js"
import { MultiCombobox } from "../../ui/forms/Combobox.js"
import { Field, Input, Switch, TextArea } from "../../ui/forms/Field.js"
import { Form, FormActions, SubmitButton } from "../../ui/forms/Form.js"
import { Section } from "../../ui/page/Page.js"
import { spoken } from "../../ui/page/spoken.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { matchingOf } from "./matching.js"
import { claimValues, previewOf, readClaims, type Target, Unreadable } from "./preview.js"
import "./sync.css"

type Mapping = Readonly<Record<string, ReadonlyArray<string>>>

/** The settings of each kind in one form; what a kind does not have is empty. */
export interface Settings {
  readonly field: string
  readonly mapping: Mapping
  readonly filter: string
  /** The kind's switch: missing groups are made, or all users join the default organization. */
  readonly isOn: boolean
  /** Names that an option of the deployment gives to values; they are set nowhere else. */
  readonly renamed: Readonly<Record<string, string>>
}

export interface Pair {
  readonly given: string
  readonly gets: string
}

/** One kind of what follows from claims. */
export interface SyncKind {
  readonly texts: (typeof syncText)["groups"]
  /** The resource's name first. */
  readonly queryKey: ReadonlyArray<unknown>
  readonly read: (signal?: AbortSignal) => Promise<Settings>
  readonly configure: (config: Pick<Settings, "field" | "filter" | "isOn">) => Promise<unknown>
  readonly map: (change: { readonly add?: ReadonlyArray<Pair>; readonly remove?: ReadonlyArray<Pair> }) => Promise<unknown>
  /** Replaces all settings: the only way to remove a value without targets. */
  readonly replace: (settings: Settings) => Promise<unknown>
  readonly claims: (signal: AbortSignal) => Promise<ReadonlyArray<string>>
  readonly claimValues: (field: string, signal: AbortSignal) => Promise<ReadonlyArray<string>>
  /** The name of the feature without which nothing follows. */
  readonly feature: string
  readonly hasFilter: boolean
  readonly switch: { readonly label: string; readonly hint: string } | undefined
  readonly followsNames: boolean
  /** What the switch gives to all users. */
  readonly always: ReadonlyArray<string>
}

interface Props {
  readonly kind: SyncKind
  readonly targets: ReadonlyArray<Target>
  readonly mayUpdate: boolean
}

export const SyncSettings = ({ kind, ...rest }: Props) => {
  const { data, error, isLoadingError, refetch } = useQuery({ queryKey: kind.queryKey, queryFn: ({ signal }) => kind.read(signal) })
  const features = useQuery({ queryKey: ["entitlements"], queryFn: ({ signal }) => deployment.entitlements(client, { signal }) }).data
    ?.features
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) {
    return (
      <Section>
        <SkeletonLines count={6} />
      </Section>
    )
  }
  return (
    <>
      {features?.[kind.feature]?.enabled === false ? (
        <Callout kind="warning" title={syncText.off(spoken(kind.feature))}>
          {syncText.offHint}
        </Callout>
      ) : null}
      <Parts key={JSON.stringify(kind.queryKey)} kind={kind} settings={data} {...rest} />
    </>
  )
}

interface PartProps extends Props {
  readonly settings: Settings
}

const Parts = ({ kind, mayUpdate, settings, targets }: PartProps) => {
  // What is typed stays when the settings are read again, and the preview shows it
  const [draft, setDraft] = useState<Partial<Pick<Settings, "field" | "filter" | "isOn">>>({})
  const { field, filter, isOn } = { ...settings, ...draft }
  const change = (next: Partial<Pick<Settings, "field" | "filter" | "isOn">>): void => setDraft({ ...draft, ...next })
  const list = useId()
  const { data: claims = [] } = useQuery({ queryKey: [...kind.queryKey, "claims"], queryFn: ({ signal }) => kind.claims(signal) })
  return (
    <>
      <Section title={kind.texts.config} description={kind.texts.hint}>
        <Form
          onSubmit={async () => {
            await kind.configure({ field: field.trim(), filter, isOn })
            await queryClient.invalidateQueries({ queryKey: kind.queryKey })
            setDraft((now) => (now === draft ? {} : now))
            notify(syncText.saved)
          }}
        >
          <div className="sync-pair">
            <Field label={syncText.field} name="field" hint={syncText.fieldHint}>
              <Input
                list={list}
                value={field}
                disabled={!mayUpdate}
                spellCheck={false}
                autoCapitalize="off"
                onChange={(event) => change({ field: event.target.value })}
              />
            </Field>
            {kind.hasFilter ? (
              <Field label={syncText.filter} name="regex_filter" hint={syncText.filterHint} isOptional>
                <Input
                  className="mono"
                  value={filter}
                  disabled={!mayUpdate}
                  spellCheck={false}
                  onChange={(event) => change({ filter: event.target.value })}
                />
              </Field>
            ) : null}
          </div>
          <datalist id={list}>
            {claims.map((claim) => (
              <option key={claim} value={claim} />
            ))}
          </datalist>
          {kind.switch === undefined ? null : (
            <Switch {...kind.switch} checked={isOn} disabled={!mayUpdate} onChange={(event) => change({ isOn: event.target.checked })} />
          )}
          {mayUpdate ? (
            <FormActions>
              <SubmitButton disabled={field === settings.field && filter === settings.filter && isOn === settings.isOn}>
                {syncText.save}
              </SubmitButton>
            </FormActions>
          ) : null}
        </Form>
      </Section>
      <MappingTable kind={kind} settings={settings} targets={targets} mayUpdate={mayUpdate} />
      <PreviewBox kind={kind} settings={{ ...settings, field: field.trim(), filter, isOn }} targets={targets} />
    </>
  )
}

const written = (value: string) => (value === "" ? <span className="faint">{syncText.emptyValue}</span> : value)

const MappingTable = ({ kind, mayUpdate, settings, targets }: PartProps) => {
  const labelOf = (target: string): string => targets.find(({ value }) => value === target)?.label ?? target
  const refresh = () => queryClient.invalidateQueries({ queryKey: kind.queryKey })
  const remove = useMutation({
    mutationFn: async ({ given, gets }: { readonly given: string; readonly gets: string | undefined }) => {
      if (gets !== undefined) return kind.map({ remove: [{ given, gets }] })
      // As it is now: others may have changed the mapping since
      const { mapping, ...rest } = await kind.read()
      return kind.replace({ ...rest, mapping: Object.fromEntries(Object.entries(mapping).filter(([value]) => value !== given)) })
    },
    onSuccess: () => {
      notify(syncText.saved)
      return refresh()
    },
    onError: notifyError
  })
  const rows = Object.entries(settings.mapping).toSorted(([one], [other]) => one.localeCompare(other))
  return (
    <Section isFlush title={kind.texts.mapping} description={kind.texts.mappingHint}>
      {Object.entries(settings.renamed).map(([value, name]) => (
        <p key={value} className="sync-row muted">
          {syncText.legacy(value, name)}
        </p>
      ))}
      {rows.length === 0 ? (
        <p className="sync-row muted">{syncText.none}</p>
      ) : (
        <table className="sync-table">
          <thead>
            <tr>
              <th scope="col">{syncText.value}</th>
              <th scope="col">{kind.texts.gets}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([given, gets]) => (
              <tr key={given}>
                <th scope="row" className="mono">
                  {written(given)}
                </th>
                <td>
                  <span className="sync-targets">
                    {gets.length === 0 ? <span className="faint">{syncText.nothing}</span> : null}
                    {gets.map((target) => (
                      <span key={target} className="chip" title={target}>
                        <span className="truncate">{labelOf(target)}</span>
                        {mayUpdate ? (
                          <button
                            type="button"
                            aria-label={syncText.remove(given, labelOf(target))}
                            disabled={remove.isPending}
                            onClick={() => remove.mutate({ given, gets: target })}
                          >
                            <X aria-hidden />
                          </button>
                        ) : null}
                      </span>
                    ))}
                    {mayUpdate ? (
                      <IconButton
                        size="small"
                        className="sync-forget"
                        label={syncText.forget(given)}
                        icon={<Trash2 />}
                        disabled={remove.isPending}
                        onClick={() => remove.mutate({ given, gets: undefined })}
                      />
                    ) : null}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {mayUpdate ? <MappingForm kind={kind} field={settings.field} targets={targets} onAdded={refresh} /> : null}
    </Section>
  )
}

interface MappingFormProps extends Pick<Props, "kind" | "targets"> {
  readonly field: string
  readonly onAdded: () => Promise<unknown>
}

const MappingForm = ({ field, kind, onAdded, targets }: MappingFormProps) => {
  const [given, setGiven] = useState("")
  const [gets, setGets] = useState<ReadonlyArray<string>>([])
  const list = useId()
  const { data: values = [] } = useQuery({
    queryKey: [...kind.queryKey, "values", field],
    queryFn: ({ signal }) => kind.claimValues(field, signal),
    enabled: field !== ""
  })
  return (
    <Form
      className="sync-row sync-new"
      onSubmit={async () => {
        await kind.map({ add: gets.map((target) => ({ given, gets: target })) })
        await onAdded()
        notify(syncText.mappingAdded(given))
        setGiven((now) => (now === given ? "" : now))
        setGets((now) => (now === gets ? [] : now))
      }}
    >
      <div className="sync-pair">
        <Field label={syncText.value}>
          <Input list={list} value={given} spellCheck={false} autoCapitalize="off" onChange={(event) => setGiven(event.target.value)} />
        </Field>
        <Field label={kind.texts.mapped}>
          <MultiCombobox
            label={kind.texts.mapped}
            values={gets}
            onChange={setGets}
            choices={targets.map(({ label, name, value }) => ({ value, label, keywords: [name] }))}
          />
        </Field>
      </div>
      <datalist id={list}>
        {values.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
      <FormActions>
        <SubmitButton kind="secondary" icon={<Plus />} disabled={given === "" || gets.length === 0}>
          {syncText.add}
        </SubmitButton>
      </FormActions>
    </Form>
  )
}

const PreviewBox = ({ kind, settings, targets }: Omit<PartProps, "mayUpdate">) => {
  const [text, setText] = useState("")
  return (
    <Section title={kind.texts.preview} description={syncText.previewHint}>
      <div className="sync-preview">
        <Field label={syncText.claims}>
          <TextArea
            className="mono"
            rows={5}
            spellCheck={false}
            placeholder={'{ "groups": ["engineers"] }'}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
        <div role="status">{text.trim() === "" ? null : <Result kind={kind} settings={settings} targets={targets} text={text} />}</div>
      </div>
    </Section>
  )
}

const noValues: ReadonlyArray<string> = []

/** The values that match the filter, which are asked for again when either changes. */
const useMatching = (filter: string, values: ReadonlyArray<string>) => {
  const isFiltered = filter !== "" && values.length > 0
  const { data, error } = useQuery({
    queryKey: ["idp-sync-matching", filter, values],
    queryFn: ({ signal }) => matchingOf({ filter, values }, signal),
    enabled: isFiltered,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false
  })
  return { isPending: isFiltered && data === undefined && error === null, error, matching: isFiltered ? data : undefined }
}

const Result = ({ kind, settings, targets, text }: Omit<PartProps, "mayUpdate"> & { readonly text: string }) => {
  const { field, filter, isOn, mapping } = settings
  const claims = useMemo(() => readClaims(text), [text])
  const values = useMemo(() => (claims instanceof Unreadable ? claims : claimValues(claims, field)), [claims, field])
  const { error, isPending, matching } = useMatching(filter, values instanceof Unreadable ? noValues : values)
  if (field === "") return <Callout title={syncText.noField} />
  if (error !== null) return <ErrorState error={error} />
  if (isPending) return <SkeletonLines count={2} />
  const preview =
    claims instanceof Unreadable
      ? claims
      : matching instanceof Unreadable
        ? matching
        : previewOf(
            claims,
            {
              field,
              mapping,
              matching,
              followsNames: kind.followsNames,
              creates: kind.hasFilter && isOn,
              always: isOn ? kind.always : []
            },
            targets
          )
  if (preview instanceof Unreadable) return <Callout kind="warning" title={syncText.unreadable[preview.reason]} />
  return (
    <>
      <p>{syncText.result(preview.all)}</p>
      {preview.outcomes.length === 0 ? <p className="muted">{syncText.noValues}</p> : null}
      <ul className="sync-outcomes">
        {preview.outcomes.map(([value, outcome]) => (
          <li key={value}>
            <span className="mono">{written(value)}</span>
            {outcome.kind === "gets" ? (
              <>
                <Badge tone="green">{outcome.labels.join(", ")}</Badge>
                <span className="faint">{syncText.outcomes[outcome.by]}</span>
              </>
            ) : (
              <Badge tone={outcome.kind === "created" ? "accent" : "grey"}>{syncText.outcomes[outcome.kind]}</Badge>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}
