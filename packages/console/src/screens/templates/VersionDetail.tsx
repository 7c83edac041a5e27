/** One version: what became of its import, and what a workspace of it consists of. */
import type { Template, TemplateVersion } from "@atelier/client"
import { useQuery } from "@tanstack/react-query"
import { getRouteApi, useNavigate } from "@tanstack/react-router"
import { ArrowUpToLine, FilePen } from "lucide-react"
import { Suspense, useState } from "react"
import { lazyPart } from "../../app/lazy.js"
import { versionsText } from "../../texts/templates.js"
import { Badge, Status } from "../../ui/page/Badge.js"
import { Button, ButtonLink } from "../../ui/forms/Button.js"
import { Section, useTitle } from "../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { Time } from "../../ui/page/Time.js"
import { useTemplateQuery, useTemplateRights, versionByNameQuery } from "./queries.js"
import { Outcome } from "./Outcome.js"
import { Resources } from "./Resources.js"
import { canPromote, PromoteDialog, VersionMenu } from "./VersionActions.js"
import { VersionLog } from "./VersionLog.js"
import { importState } from "./versionState.js"

const VersionChanges = lazyPart(() => import("./VersionChanges.js").then(({ VersionChanges }) => VersionChanges))

const route = getRouteApi("/templates/$organization/$template/versions/$version")

export const VersionDetail = () => {
  const { version } = route.useParams()
  const { data: template } = useTemplateQuery()
  return template === undefined ? null : <Found key={`${template.id} ${version}`} template={template} name={version} />
}

const Found = ({ name, template }: { readonly template: Template; readonly name: string }) => {
  const { data: version, error, isLoadingError, refetch } = useQuery(versionByNameQuery(template.id, name))
  useTitle(`${template.display_name || template.name} ${name}`)
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  if (version === undefined) return <SkeletonLines count={6} />
  return (
    <>
      <Head template={template} version={version} />
      <Outcome version={version} />
      {version.job.status === "succeeded" ? <Resources version={version.id} /> : null}
      <Suspense fallback={<SkeletonLines count={4} />}>
        <VersionChanges template={template} version={version} />
      </Suspense>
      <Section title={versionsText.log}>
        <VersionLog key={version.id} version={version.id} height={320} />
      </Section>
    </>
  )
}

const Head = ({ template, version }: { readonly template: Template; readonly version: TemplateVersion }) => {
  const { archived, created_at, created_by, id, job, message, name } = version
  const may = useTemplateRights(template)
  const navigate = useNavigate()
  const [isPromoting, setPromoting] = useState(false)
  const params = { organization: template.organization_name, template: template.name }
  const { isMoving, label, tone } = importState(job)
  return (
    <div className="tpl-version">
      <div className="tpl-version-text">
        <div className="tpl-name-line">
          <h2 className="truncate mono tpl-version-name" title={name}>
            {name}
          </h2>
          {id === template.active_version_id ? <Badge tone="green">{versionsText.active}</Badge> : null}
          {archived ? <Badge>{versionsText.archived}</Badge> : null}
        </div>
        <div className="tpl-line">
          <Status tone={tone} isMoving={isMoving}>
            {label}
          </Status>
          <span className="faint">
            <Time at={created_at} /> {versionsText.madeBy(created_by.username)}
          </span>
        </div>
        {message === "" ? null : <p className="tpl-message">{message}</p>}
      </div>
      <div className="page-actions">
        {may.update ? (
          <ButtonLink
            icon={<FilePen />}
            to="/templates/$organization/$template/versions/$version/edit"
            params={{ ...params, version: name }}
          >
            {versionsText.edit}
          </ButtonLink>
        ) : null}
        {may.update && canPromote(template, version) ? (
          <Button icon={<ArrowUpToLine />} onClick={() => setPromoting(true)}>
            {versionsText.promote}
          </Button>
        ) : null}
        <VersionMenu
          kind="secondary"
          template={template}
          version={version}
          mayUpdate={may.update}
          mayUse={may.use && may.createWorkspace}
          onRenamed={(version) =>
            void navigate({
              to: "/templates/$organization/$template/versions/$version",
              params: { ...params, version },
              replace: true
            })
          }
        />
        <PromoteDialog template={template} version={version} isOpen={isPromoting} onClose={() => setPromoting(false)} />
      </div>
    </div>
  )
}
