/** What this service is: its version, its identity and what it is made of. */
import { useQuery } from "@tanstack/react-query"
import { Book, ExternalLink, Scale } from "lucide-react"
import { config, isWebAddress } from "../../app/config.js"
import { buildInfoQuery, useAppearance } from "../../app/session.js"
import { aboutText } from "../../texts/deployment.js"
import { ButtonAnchor } from "../../ui/forms/Button.js"
import { CopyButton } from "../../ui/text/Code.js"
import { Loaded } from "../../ui/lists/List.js"
import { Page, PageHeader, PropertyList, Section } from "../../ui/page/Page.js"
import "./deployment.css"

const copied = (text: string) => (
  <span className="health-side">
    <span className="mono truncate" title={text}>
      {text}
    </span>
    <CopyButton text={text} />
  </span>
)

export const About = () => {
  const query = useQuery(buildInfoQuery)
  const appearance = useAppearance()
  const documentation = config.documentation !== "" ? config.documentation : (appearance?.docs_url ?? "")
  return (
    <Page width="narrow">
      <PageHeader
        title={aboutText.title(config.brand.name)}
        actions={
          <>
            {isWebAddress(documentation) && documentation !== "" ? (
              <ButtonAnchor icon={<Book />} href={documentation} target="_blank" rel="noreferrer">
                {aboutText.documentation}
              </ButtonAnchor>
            ) : null}
            <ButtonAnchor icon={<Scale />} href={`${config.base}LICENSES.txt`} target="_blank" rel="noreferrer">
              {aboutText.licenses}
            </ButtonAnchor>
          </>
        }
      />
      <Section>
        <Loaded query={query} lines={6}>
          {({
            agent_api_version,
            dashboard_url,
            deployment_id,
            external_url,
            provisioner_api_version,
            telemetry,
            upgrade_message,
            version,
            workspace_proxy
          }) => (
            <PropertyList
              properties={[
                { label: aboutText.version, value: copied(version) },
                config.version === "" || config.version === version
                  ? undefined
                  : { label: aboutText.console, value: copied(config.version) },
                { label: aboutText.id, value: copied(deployment_id) },
                { label: aboutText.address, value: copied(dashboard_url) },
                { label: aboutText.kind, value: workspace_proxy ? aboutText.proxy : aboutText.server },
                { label: aboutText.agents, value: <span className="mono">{agent_api_version}</span> },
                { label: aboutText.provisioners, value: <span className="mono">{provisioner_api_version}</span> },
                { label: aboutText.telemetry, value: telemetry ? aboutText.on : aboutText.off },
                external_url === "" || !isWebAddress(external_url)
                  ? undefined
                  : {
                      label: aboutText.source,
                      value: (
                        <a className="link health-side" href={external_url} target="_blank" rel="noreferrer">
                          <span className="truncate">{external_url}</span>
                          <ExternalLink aria-hidden size={14} />
                        </a>
                      )
                    },
                upgrade_message === "" ? undefined : { label: aboutText.upgrade, value: upgrade_message }
              ]}
            />
          )}
        </Loaded>
      </Section>
    </Page>
  )
}
