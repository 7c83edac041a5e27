import type { ExternalAuthLink, ExternalAuthLinkProvider } from "@atelier/client"
import * as externalAuth from "@atelier/client/externalAuth"
import { useQuery } from "@tanstack/react-query"
import { Plug } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { serverPage } from "../../app/config.js"
import { queryClient } from "../../app/queries.js"
import { accountText, externalAuthText } from "../../texts/account.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Status } from "../../ui/page/Badge.js"
import { Button, ButtonAnchor } from "../../ui/forms/Button.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { List, ListRow } from "../../ui/lists/List.js"
import { Section } from "../../ui/page/Page.js"
import { Empty } from "../../ui/page/States.js"
import { Time } from "../../ui/page/Time.js"
import { notify } from "../../ui/floating/Toast.js"
import { SettingsFrame } from "./SettingsFrame.js"

const linksKey = ["external-auth"]

interface Place {
  readonly id: string
  readonly name: string
  readonly icon: string
  /** Undefined where the deployment does not know the provider any more: then the link can only be removed. */
  readonly provider: ExternalAuthLinkProvider | undefined
  readonly link: ExternalAuthLink | undefined
}

/** The providers, and the links to those that are gone. */
const placesOf = (providers: ReadonlyArray<ExternalAuthLinkProvider>, links: ReadonlyArray<ExternalAuthLink>): ReadonlyArray<Place> => [
  ...providers.map((provider) => ({
    id: provider.id,
    name: provider.display_name || provider.id,
    icon: provider.display_icon,
    provider,
    link: links.find(({ provider_id }) => provider_id === provider.id)
  })),
  ...links
    .filter(({ provider_id }) => providers.every(({ id }) => id !== provider_id))
    .map((link) => ({ id: link.provider_id, name: link.provider_id, icon: "", provider: undefined, link }))
]

/** The accounts at other services that workspaces get tokens of. */
export const ExternalAuth = () => {
  const [asked, setAsked] = useState<Place | undefined>()
  const places = useQuery({
    queryKey: linksKey,
    queryFn: ({ signal }) => externalAuth.listExternalAuth(client, { signal }),
    select: ({ links, providers }) => placesOf(providers, links)
  })

  return (
    <SettingsFrame title={accountText.externalAuth}>
      <Section title={accountText.externalAuth} description={externalAuthText.description} isFlush>
        <List
          query={places}
          empty={
            <Empty icon={<Plug />} title={externalAuthText.empty}>
              {externalAuthText.emptyHint}
            </Empty>
          }
          row={(place) => <PlaceRow key={place.id} place={place} onDisconnect={() => setAsked(place)} />}
        />
      </Section>
      <ConfirmDialog
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={externalAuthText.disconnectTitle(asked?.name ?? "")}
        description={externalAuthText.disconnectHint}
        action={externalAuthText.disconnect}
        isDangerous
        onConfirm={async () => {
          if (asked === undefined) return
          const { token_revoked } = await externalAuth.deleteExternalAuth(client, { externalauth: asked.id })
          await queryClient.invalidateQueries({ queryKey: linksKey })
          const isTold = token_revoked || asked.provider?.supports_revocation !== true
          notify(isTold ? externalAuthText.disconnected(asked.name) : externalAuthText.notRevoked(asked.name))
        }}
      />
    </SettingsFrame>
  )
}

const PlaceRow = ({
  onDisconnect,
  place: { icon, id, link, name, provider }
}: {
  readonly place: Place
  readonly onDisconnect: () => void
}) => {
  const state = () => {
    if (link === undefined) return <Status tone="grey">{externalAuthText.notConnected}</Status>
    if (!link.authenticated) return <Status tone="amber">{link.validate_error || externalAuthText.failed}</Status>
    return <Status tone="green">{externalAuthText.connected}</Status>
  }
  return (
    <ListRow
      lead={<Avatar name={name} src={icon} size={32} isThing />}
      title={name}
      second={
        <>
          {state()}
          {link?.authenticated === true && !link.has_refresh_token && !link.expires.startsWith("0001-") ? (
            <span className="faint">
              {" "}
              {externalAuthText.expires} <Time at={link.expires} />
            </span>
          ) : null}
        </>
      }
    >
      {provider === undefined || link?.authenticated === true ? null : (
        <ButtonAnchor href={serverPage(`/external-auth/${encodeURIComponent(id)}`)}>
          {link === undefined ? externalAuthText.connect : externalAuthText.reconnect}
        </ButtonAnchor>
      )}
      {link === undefined ? null : <Button onClick={onDisconnect}>{externalAuthText.disconnect}</Button>}
    </ListRow>
  )
}
