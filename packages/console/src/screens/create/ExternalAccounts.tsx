/** The accounts elsewhere that a template needs, connected without leaving the form. */
import * as templateVersions from "@atelier/client/templateVersions"
import { useQuery } from "@tanstack/react-query"
import { CircleCheck, ExternalLink } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { isWebAddress } from "../../app/config.js"
import { createText } from "../../texts/create.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { ButtonAnchor } from "../../ui/forms/Button.js"
import { Section } from "../../ui/page/Page.js"
import "./ExternalAccounts.css"

const askAgain = 2_000
/** Who has not come back by then is found when the window is used again. */
const longestConnecting = 10 * 60_000

/** Reads which accounts a version needs; again and again while the user is connecting one. */
export const useExternalAccounts = (version: string | undefined) => {
  const [since, setSince] = useState<number | undefined>()
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["template-versions", version, "external-auth"],
    queryFn: ({ signal }) => templateVersions.getTemplateVersionExternalAuth(client, { templateversion: version ?? "" }, { signal }),
    enabled: version !== undefined,
    refetchInterval: ({ state }) =>
      since !== undefined && Date.now() - since < longestConnecting && (state.data ?? []).some(({ authenticated }) => !authenticated)
        ? askAgain
        : false,
    refetchOnWindowFocus: "always"
  })
  return {
    accounts: data ?? [],
    connect: () => setSince(Date.now()),
    /** Why it is not known which accounts are needed. */
    error: isLoadingError ? error : undefined,
    refetch,
    isMissing: data === undefined || data.some(({ authenticated, optional }) => !authenticated && optional !== true)
  }
}

export const ExternalAccounts = ({ accounts, connect }: Pick<ReturnType<typeof useExternalAccounts>, "accounts" | "connect">) => (
  <Section title={createText.externalAuth} description={createText.externalAuthHint}>
    <ul className="accounts">
      {accounts.map(({ authenticate_url, authenticated, display_icon, display_name, id, optional }) => (
        <li key={id} className="account">
          <Avatar name={display_name || id} src={display_icon} size={24} isThing />
          <span className="truncate account-name">
            {display_name || id} {optional === true ? <span className="faint">{createText.optional}</span> : null}
          </span>
          {authenticated ? (
            <span className="account-connected">
              <CircleCheck aria-hidden /> {createText.connected}
            </span>
          ) : isWebAddress(authenticate_url) ? (
            <ButtonAnchor icon={<ExternalLink />} href={authenticate_url} target="_blank" rel="noopener" onClick={connect}>
              {createText.connect(display_name || id)}
            </ButtonAnchor>
          ) : null}
        </li>
      ))}
    </ul>
  </Section>
)
