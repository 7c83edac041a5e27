import type { AppearanceConfig, BannerConfig } from "@atelier/client"
import * as appearance from "@atelier/client/appearance"
import { useQueryClient, useQuery } from "@tanstack/react-query"
import { Plus, Trash2 } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { appearanceQuery, useMay } from "../../app/session.js"
import { appearanceText, deploymentText } from "../../texts/deployment.js"
import { errorText } from "../../texts/ui.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { Field, Input, Switch } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { Section } from "../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { notify } from "../../ui/floating/Toast.js"
import { DeploymentFrame } from "./DeploymentFrame.js"

export const Appearance = () => {
  const { data, error, isLoadingError, refetch } = useQuery(appearanceQuery)
  return (
    <DeploymentFrame>
      {isLoadingError ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <Section>
          <SkeletonLines count={5} />
        </Section>
      ) : (
        <Editor key={JSON.stringify(data)} given={data} />
      )}
    </DeploymentFrame>
  )
}

const defaultColor = "#1d4ed8"

const Editor = ({ given }: { readonly given: AppearanceConfig }) => {
  const may = useMay({ update: { on: "deployment_config", to: "update" } })
  const [banners, setBanners] = useState<ReadonlyArray<BannerConfig>>(given.announcement_banners)
  const queryClient = useQueryClient()
  const change = (index: number, banner: Partial<BannerConfig>): void =>
    setBanners(banners.map((each, at) => (at === index ? { ...each, ...banner } : each)))
  return (
    <Form
      onSubmit={async (form) => {
        await appearance.updateAppearance(client, {
          body: {
            application_name: String(form.get("application_name")).trim(),
            logo_url: String(form.get("logo_url")).trim(),
            announcement_banners: banners,
            service_banner: given.service_banner
          }
        })
        await queryClient.invalidateQueries({ queryKey: appearanceQuery.queryKey })
        // Name and logo are in the page itself
        notify(deploymentText.saved, { label: errorText.reload, run: () => location.reload() })
      }}
    >
      <Section title={appearanceText.identity} description={appearanceText.identityHint}>
        <div className="deployment-pair">
          <Field label={appearanceText.name} name="application_name">
            <Input defaultValue={given.application_name} disabled={!may.update} />
          </Field>
          <Field label={appearanceText.logo} name="logo_url" hint={appearanceText.logoHint} isOptional>
            <Input type="url" defaultValue={given.logo_url} disabled={!may.update} />
          </Field>
        </div>
      </Section>
      <Section
        title={appearanceText.banners}
        description={appearanceText.bannersHint}
        actions={
          may.update ? (
            <Button
              icon={<Plus />}
              onClick={() => setBanners([...banners, { enabled: true, message: "", background_color: defaultColor }])}
            >
              {appearanceText.add}
            </Button>
          ) : undefined
        }
      >
        {banners.length === 0 ? undefined : (
          <div className="form">
            {banners.map(({ background_color = defaultColor, enabled, message = "" }, index) => (
              <div key={index} className="banner-row" role="group" aria-label={appearanceText.banner(index + 1)}>
                <Field label={appearanceText.message} hint={appearanceText.messageHint}>
                  <Input
                    value={message}
                    disabled={!may.update}
                    maxLength={4_096}
                    onChange={(event) => change(index, { message: event.target.value })}
                  />
                </Field>
                <Field label={appearanceText.color}>
                  <Input
                    type="color"
                    className="color-input"
                    value={background_color}
                    disabled={!may.update}
                    onChange={(event) => change(index, { background_color: event.target.value })}
                  />
                </Field>
                <div className="banner-row-foot">
                  <Switch
                    label={appearanceText.enabled}
                    checked={enabled}
                    disabled={!may.update}
                    onChange={(event) => change(index, { enabled: event.target.checked })}
                  />
                  {may.update ? (
                    <IconButton
                      size="small"
                      label={appearanceText.remove}
                      icon={<Trash2 />}
                      onClick={() => setBanners(banners.filter((_, at) => at !== index))}
                    />
                  ) : null}
                </div>
              </div>
            ))}
          </div>
        )}
      </Section>
      {may.update ? (
        <FormActions>
          <Button type="submit" kind="primary">
            {deploymentText.save}
          </Button>
        </FormActions>
      ) : null}
    </Form>
  )
}
