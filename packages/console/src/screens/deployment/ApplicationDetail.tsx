import type { OAuth2ProviderApp } from "@atelier/client"
import * as oauth2 from "@atelier/client/oauth2Provider"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { Plus, Trash2 } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { applicationsText, deploymentText } from "../../texts/deployment.js"
import { organizationsText } from "../../texts/people.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { CopyButton } from "../../ui/text/Code.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { List, ListRow } from "../../ui/lists/List.js"
import { Page, PageHeader, PropertyList, Section } from "../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { Time } from "../../ui/page/Time.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { ApplicationFields, applicationOf } from "./ApplicationFields.js"
import { Secret } from "../../ui/floating/Secret.js"
import "./deployment.css"

const crumbs = [
  { label: deploymentText.title, link: { to: "/deployment" } as const },
  { label: deploymentText.tabs.applications, link: { to: "/deployment/oauth2-provider/apps" } as const }
]

export const ApplicationDetail = () => {
  const { app } = useParams({ from: "/deployment/oauth2-provider/apps/$app" })
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["oauth2-apps", app],
    queryFn: ({ signal }) => oauth2.getOAuth2App(client, { app }, { signal })
  })
  return (
    <Page width="narrow">
      <PageHeader
        crumbs={crumbs}
        icon={data === undefined ? undefined : <Avatar name={data.name} src={data.icon} size={28} isThing />}
        title={data?.name ?? deploymentText.tabs.applications}
      />
      {isLoadingError ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <Section>
          <SkeletonLines count={5} />
        </Section>
      ) : (
        <Parts application={data} />
      )}
    </Page>
  )
}

const copied = (text: string) => (
  <span className="health-side">
    <span className="mono truncate">{text}</span>
    <CopyButton text={text} />
  </span>
)

const Parts = ({ application }: { readonly application: OAuth2ProviderApp }) => {
  const { endpoints, id, name } = application
  const may = useMay({
    update: { on: "oauth2_app", to: "update" },
    delete: { on: "oauth2_app", to: "delete" },
    secrets: { on: "oauth2_app_secret", to: "read" }
  })
  const [isDeleting, setDeleting] = useState(false)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return (
    <>
      <Section title={applicationsText.endpoints}>
        <PropertyList
          properties={[
            { label: applicationsText.clientId, value: copied(id) },
            { label: applicationsText.authorization, value: copied(endpoints.authorization) },
            { label: applicationsText.token, value: copied(endpoints.token) }
          ]}
        />
      </Section>
      {may.secrets ? <Secrets app={id} /> : null}
      {may.update ? (
        <Section title={applicationsText.settings}>
          <Form
            onSubmit={async (form) => {
              await oauth2.updateOAuth2App(client, { app: id, body: applicationOf(form) })
              await queryClient.invalidateQueries({ queryKey: ["oauth2-apps"] })
              notify(deploymentText.saved)
            }}
          >
            <ApplicationFields application={application} />
            <FormActions>
              <Button type="submit">{deploymentText.save}</Button>
            </FormActions>
          </Form>
        </Section>
      ) : null}
      {may.delete ? (
        <Section title={organizationsText.danger}>
          <div className="deployment-danger">
            <p>{applicationsText.deleteText}</p>
            <Button kind="danger" onClick={() => setDeleting(true)}>
              {applicationsText.delete}
            </Button>
          </div>
          <ConfirmDialog
            isOpen={isDeleting}
            onClose={() => setDeleting(false)}
            title={applicationsText.deleteTitle(name)}
            description={applicationsText.deleteText}
            action={applicationsText.delete}
            isDangerous
            typedName={name}
            onConfirm={async () => {
              await oauth2.deleteOAuth2App(client, { app: id })
              void navigate({ to: "/deployment/oauth2-provider/apps" })
              await queryClient.invalidateQueries({ queryKey: ["oauth2-apps"] })
              notify(applicationsText.deleted(name))
            }}
          />
        </Section>
      ) : null}
    </>
  )
}

const Secrets = ({ app }: { readonly app: string }) => {
  const may = useMay({ create: { on: "oauth2_app_secret", to: "create" }, delete: { on: "oauth2_app_secret", to: "delete" } })
  const [shown, setShown] = useState<string | undefined>()
  const [deleting, setDeleting] = useState<string | undefined>()
  const queryClient = useQueryClient()
  const queryKey = ["oauth2-apps", app, "secrets"]
  const secrets = useQuery({
    queryKey,
    queryFn: ({ signal }) => oauth2.listOAuth2AppSecrets(client, { app }, { signal })
  })
  const create = useMutation({
    mutationFn: () => oauth2.createOAuth2AppSecret(client, { app }),
    onSuccess: async ({ client_secret_full }) => {
      setShown(client_secret_full)
      await queryClient.invalidateQueries({ queryKey })
    },
    onError: notifyError
  })
  return (
    <Section
      isFlush
      title={applicationsText.secrets}
      description={applicationsText.secretsHint}
      actions={
        may.create ? (
          <Button icon={<Plus />} isBusy={create.isPending} onClick={() => create.mutate()}>
            {applicationsText.addSecret}
          </Button>
        ) : undefined
      }
    >
      <List
        query={secrets}
        empty={applicationsText.noSecrets}
        row={({ client_secret_truncated, id, last_used_at }) => (
          <ListRow
            key={id}
            title={<span className="mono">{client_secret_truncated}…</span>}
            second={
              <>
                {applicationsText.used} <Time at={last_used_at} />
              </>
            }
          >
            {may.delete ? (
              <IconButton size="small" label={applicationsText.deleteSecret} icon={<Trash2 />} onClick={() => setDeleting(id)} />
            ) : null}
          </ListRow>
        )}
      />
      <Secret
        title={applicationsText.secretTitle}
        description={applicationsText.secretOnce}
        done={applicationsText.done}
        secret={shown}
        onClose={() => {
          setShown(undefined)
          create.reset()
        }}
      />
      <ConfirmDialog
        isOpen={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title={applicationsText.deleteSecretTitle}
        description={applicationsText.deleteSecretText}
        action={applicationsText.deleteSecret}
        isDangerous
        onConfirm={async () => {
          if (deleting === undefined) return
          await oauth2.deleteOAuth2AppSecret(client, { app, secretID: deleting })
          await queryClient.invalidateQueries({ queryKey })
          notify(applicationsText.secretDeleted)
        }}
      />
    </Section>
  )
}
