import * as keys from "@atelier/client/keys"
import * as templates from "@atelier/client/templates"
import * as workspaces from "@atelier/client/workspaces"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { accountText, newTokenText, tokensText } from "../../texts/account.js"
import { Button, ButtonLink } from "../../ui/forms/Button.js"
import { Callout } from "../../ui/page/Callout.js"
import { Code } from "../../ui/text/Code.js"
import { MultiCombobox } from "../../ui/forms/Combobox.js"
import { Field, Input, Select } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { Page, PageHeader, Section } from "../../ui/page/Page.js"
import { SettingsFrame } from "./SettingsFrame.js"
import { textIn } from "./textIn.js"

const day = 86_400_000
const nanoseconds = 1_000_000

/** Lifetimes to choose from, in days. */
const usualLifetimes = [1, 7, 30, 90, 365]

/** The word for a day that the user names. */
const custom = "custom"

const maximumObjects = 100

/** The objects that a token can be limited to: the user's workspaces, and the templates. */
const useObjects = () => {
  const own = useQuery({
    queryKey: ["workspaces", "mine"],
    queryFn: ({ signal }) => workspaces.listWorkspaces(client, { q: "owner:me", limit: maximumObjects }, { signal })
  })
  const offered = useQuery({ queryKey: ["templates"], queryFn: ({ signal }) => templates.listTemplates(client, {}, { signal }) })
  return [
    ...(own.data?.workspaces ?? []).map(({ id, name }) => ({ value: `workspace:${id}`, label: name, hint: newTokenText.workspace })),
    ...(offered.data ?? []).map(({ display_name, id, name }) => ({
      value: `template:${id}`,
      label: display_name || name,
      hint: newTokenText.template
    }))
  ]
}

/** Makes a token, and shows it once. */
export const NewToken = () => {
  const [token, setToken] = useState<string | undefined>()
  const [chosen, setChosen] = useState("30")
  const [scopes, setScopes] = useState<ReadonlyArray<string>>([])
  const [objects, setObjects] = useState<ReadonlyArray<string>>([])
  const offered = useQuery({ queryKey: ["scopes"], queryFn: ({ signal }) => keys.listScopes(client, { signal }), staleTime: Infinity })
  const limits = useQuery({
    queryKey: ["tokens", "config"],
    queryFn: ({ signal }) => keys.getTokenConfig(client, { user: "me" }, { signal })
  })
  const choices = useObjects()
  const longest = limits.data === undefined ? undefined : Math.floor(limits.data.max_token_lifetime / nanoseconds / day)
  const allowed = usualLifetimes.filter((days) => longest === undefined || days <= longest)
  // The deployment may allow less than what is usual
  const lifetime = chosen === custom || allowed.includes(Number(chosen)) ? chosen : String(allowed.at(-1) ?? custom)

  const create = async (form: FormData): Promise<void> => {
    // A day ends with its last moment, where the user is
    const until = new Date(`${textIn(form, "until")}T23:59:59`).getTime()
    const milliseconds = lifetime === custom ? until - Date.now() : Number(lifetime) * day
    const { key } = await keys.createToken(client, {
      user: "me",
      body: {
        token_name: textIn(form, "token_name"),
        lifetime: Math.round(milliseconds) * nanoseconds,
        ...(scopes.length === 0 ? {} : { scopes }),
        ...(objects.length === 0 ? {} : { allow_list: objects })
      }
    })
    await queryClient.invalidateQueries({ queryKey: ["tokens"] })
    setToken(key)
  }

  if (token !== undefined)
    return (
      <Page width="narrow">
        <PageHeader title={newTokenText.done} crumbs={[{ label: accountText.tokens, link: { to: "/settings/tokens" } }]} />
        <Section>
          <Callout kind="warning" title={newTokenText.shownOnce}>
            {newTokenText.actsForYou}
          </Callout>
          <br />
          <Code text={token} isWrapped />
        </Section>
        <div>
          <ButtonLink to="/settings/tokens">{newTokenText.back}</ButtonLink>
        </div>
      </Page>
    )

  return (
    <SettingsFrame title={newTokenText.title}>
      <Section title={newTokenText.title} description={newTokenText.description}>
        <Form className="account-form" onSubmit={create}>
          <Field label={tokensText.name} name="token_name" hint={newTokenText.nameHint}>
            <Input spellCheck={false} required />
          </Field>
          <Field label={newTokenText.lifetime} name="lifetime" hint={longest === undefined ? undefined : newTokenText.longest(longest)}>
            <Select
              value={lifetime}
              onChange={(event) => setChosen(event.target.value)}
              choices={[
                ...allowed.map((days) => ({ value: String(days), label: newTokenText.days(days) })),
                { value: custom, label: newTokenText.custom }
              ]}
            />
          </Field>
          {lifetime === custom ? (
            <Field label={newTokenText.until} name="until">
              <Input type="date" min={new Date().toISOString().slice(0, 10)} required />
            </Field>
          ) : null}
          <Field label={newTokenText.scopes} name="scopes" hint={newTokenText.scopesHint}>
            <MultiCombobox
              label={newTokenText.scopes}
              placeholder={newTokenText.anything}
              values={scopes}
              onChange={setScopes}
              choices={(offered.data?.external ?? []).map((scope) => ({ value: scope, label: scope }))}
              isLoading={offered.isPending}
            />
          </Field>
          <Field label={newTokenText.objects} name="allow_list" hint={newTokenText.objectsHint}>
            <MultiCombobox
              label={newTokenText.objects}
              placeholder={newTokenText.anyObject}
              values={objects}
              onChange={setObjects}
              choices={choices}
            />
          </Field>
          <FormActions>
            <ButtonLink to="/settings/tokens">{accountText.cancel}</ButtonLink>
            <Button type="submit" kind="primary">
              {newTokenText.create}
            </Button>
          </FormActions>
        </Form>
      </Section>
    </SettingsFrame>
  )
}
