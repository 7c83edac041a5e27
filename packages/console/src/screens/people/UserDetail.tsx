import type { User } from "@atelier/client"
import * as quietHours from "@atelier/client/quietHours"
import * as users from "@atelier/client/users"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { client } from "../../app/client.js"
import { useMay, useMe } from "../../app/session.js"
import { usersText, userText } from "../../texts/people.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Button } from "../../ui/forms/Button.js"
import { CopyButton } from "../../ui/text/Code.js"
import { Checkbox, Field, Input } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { List, ListRow } from "../../ui/lists/List.js"
import { Page, PageHeader, PropertyList, Section } from "../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { Time } from "../../ui/page/Time.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { UserState } from "./Person.js"
import { siteRolesQuery, userQuery } from "./queries.js"
import { Quota } from "./Quota.js"
import { UserActions } from "./UserActions.js"
import "./people.css"

const crumbs = [{ label: usersText.title, link: { to: "/deployment/users" } as const }]

export const UserDetail = () => {
  const { user: reference } = useParams({ from: "/deployment/users/$user" })
  const { data: user, error, refetch } = useQuery(userQuery(reference))
  const navigate = useNavigate()
  if (user === undefined) {
    return (
      <Page width="narrow">
        <PageHeader title={reference} crumbs={crumbs} />
        {error === null ? (
          <Section>
            <SkeletonLines count={6} />
          </Section>
        ) : (
          <ErrorState error={error} onRetry={refetch} />
        )}
      </Page>
    )
  }
  const { avatar_url, created_at, email, id, is_service_account = false, last_seen_at, login_type, name = "", status, username } = user
  return (
    <Page width="narrow">
      <PageHeader
        crumbs={crumbs}
        icon={<Avatar name={name || username} src={avatar_url} size={28} />}
        title={name || username}
        tabTitle={username}
        actions={<UserActions kind="secondary" user={user} onDeleted={() => void navigate({ to: "/deployment/users" })} />}
      />
      <Section>
        <PropertyList
          properties={[
            {
              label: usersText.status,
              value: (
                <>
                  <UserState status={status} />
                  {status === "dormant" ? <p className="faint">{usersText.dormantHint}</p> : null}
                </>
              )
            },
            { label: usersText.username, value: username },
            is_service_account ? { label: usersText.login, value: usersText.service } : { label: usersText.email, value: email },
            is_service_account ? undefined : { label: userText.security, value: login_type },
            { label: usersText.lastSeen, value: <Time at={last_seen_at} /> },
            { label: usersText.created_at, value: <Time at={created_at} /> },
            {
              label: "ID",
              value: (
                <span className="people-name">
                  <span className="mono truncate">{id}</span>
                  <CopyButton text={id} />
                </span>
              )
            }
          ]}
        />
      </Section>
      <Profile key={user.updated_at} user={user} />
      <Roles user={user} />
      <Organizations user={user} />
      <QuietHours user={user} />
    </Page>
  )
}

/** Shows a user as a change has left it, at the address that its name gives now. */
const useChanged = () => {
  const { user: reference } = useParams({ from: "/deployment/users/$user" })
  const me = useMe()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return async (changed: User): Promise<void> => {
    queryClient.setQueryData(userQuery(changed.username).queryKey, changed)
    if (reference !== changed.username) {
      await navigate({ to: "/deployment/users/$user", params: { user: changed.username }, replace: true })
      queryClient.removeQueries({ queryKey: userQuery(reference).queryKey })
    }
    if (changed.id === me.id) void queryClient.invalidateQueries({ queryKey: ["me"] })
    await queryClient.invalidateQueries({ queryKey: ["users", "list"] })
  }
}

const Profile = ({ user }: { readonly user: User }) => {
  const may = useMay({ update: { on: "user", to: "update_personal", owner: user.id, id: user.id } })
  const changed = useChanged()
  if (!may.update) return null
  return (
    <Section title={userText.profile} description={userText.profileHint}>
      <Form
        onSubmit={async (form) => {
          const body = { username: String(form.get("username")).trim(), name: String(form.get("name")).trim() }
          await changed(await users.updateProfile(client, { user: user.id, body }))
          notify(userText.saved)
        }}
      >
        <div className="people-pair">
          <Field label={usersText.username} name="username">
            <Input defaultValue={user.username} spellCheck={false} autoCapitalize="off" />
          </Field>
          <Field label={usersText.name} name="name" isOptional>
            <Input defaultValue={user.name} />
          </Field>
        </div>
        <FormActions>
          <Button type="submit">{userText.save}</Button>
        </FormActions>
      </Form>
    </Section>
  )
}

const Roles = ({ user }: { readonly user: User }) => {
  const me = useMe()
  const { data: roles } = useQuery(siteRolesQuery)
  const changed = useChanged()
  const held = new Set(user.roles.map(({ name }) => name))
  const change = useMutation({
    mutationFn: (next: ReadonlyArray<string>) => users.updateUserRoles(client, { user: user.id, body: { roles: next } }),
    onSuccess: changed,
    onError: notifyError
  })
  const assignable = (roles ?? []).filter(({ name }) => name !== "member")
  const isFixed = user.id === me.id || !assignable.some((role) => role.assignable)
  return (
    <Section title={userText.roles} description={isFixed ? userText.noRoles : userText.rolesHint}>
      {roles === undefined ? (
        <SkeletonLines />
      ) : (
        <div className="people-checks">
          {assignable.map(({ assignable, display_name, name }) => (
            <Checkbox
              key={name}
              label={display_name || name}
              checked={(change.isPending ? change.variables : Array.from(held)).includes(name)}
              disabled={isFixed || !assignable || change.isPending}
              onChange={(event) => {
                const others = Array.from(held).filter((other) => other !== name)
                change.mutate(event.target.checked ? [...others, name] : others)
              }}
            />
          ))}
        </div>
      )}
    </Section>
  )
}

const Organizations = ({ user }: { readonly user: User }) => {
  const organizations = useQuery({
    queryKey: ["users", "organizations", user.id],
    queryFn: ({ signal }) => users.listUserOrganizations(client, { user: user.id }, { signal })
  })
  return (
    <Section title={userText.organizations} isFlush>
      <List
        query={organizations}
        empty={userText.noOrganizations}
        row={({ display_name, icon, id, name }) => (
          <ListRow
            key={id}
            lead={<Avatar name={display_name || name} src={icon} size={22} isThing />}
            title={display_name || name}
            link={{ to: "/organizations/$organization/members", params: { organization: name }, search: { filter: user.username } }}
          >
            <Quota organization={id} user={user.id} />
          </ListRow>
        )}
      />
    </Section>
  )
}

const QuietHours = ({ user }: { readonly user: User }) => {
  const queryKey = ["users", "quiet-hours", user.id]
  const { data } = useQuery({
    queryKey,
    queryFn: ({ signal }) => quietHours.getQuietHours(client, { user: user.id }, { signal }),
    retry: false
  })
  const may = useMay({ update: { on: "user", to: "update_personal", owner: user.id, id: user.id } })
  const queryClient = useQueryClient()
  const [settings] = data ?? []
  if (settings === undefined) return null
  const { next, time, timezone, user_can_set } = settings
  return (
    <Section title={userText.quietHours} description={user_can_set ? userText.quietHoursHint : userText.quietHoursFixed}>
      {user_can_set && may.update ? (
        <Form
          key={settings.raw_schedule}
          onSubmit={async (form) => {
            const [hour = "0", minute = "0"] = String(form.get("time")).split(":")
            const zone = String(form.get("timezone")).trim() || "UTC"
            const schedule = `CRON_TZ=${zone} ${Number(minute)} ${Number(hour)} * * *`
            const changed = await quietHours.updateQuietHours(client, { user: user.id, body: { schedule } })
            queryClient.setQueryData(queryKey, changed)
            notify(userText.saved)
          }}
        >
          <div className="people-pair">
            <Field label={userText.schedule} name="schedule">
              <Input type="time" name="time" defaultValue={time} />
            </Field>
            <Field label={userText.timezone}>
              <Input name="timezone" defaultValue={timezone} list="people-zones" spellCheck={false} />
            </Field>
          </div>
          <datalist id="people-zones">
            {Intl.supportedValuesOf("timeZone").map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
          <FormActions>
            <Button type="submit">{userText.save}</Button>
          </FormActions>
        </Form>
      ) : (
        <PropertyList
          properties={[
            { label: userText.schedule, value: time },
            { label: userText.timezone, value: timezone },
            { label: userText.next, value: <Time at={next} /> }
          ]}
        />
      )}
    </Section>
  )
}
