import * as organizations from "@atelier/client/organizations"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Building2, Plus } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { organizationsText } from "../../texts/people.js"
import { dialogText } from "../../texts/ui.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Badge } from "../../ui/page/Badge.js"
import { Button } from "../../ui/forms/Button.js"
import { Dialog } from "../../ui/floating/Dialog.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { List, ListRow } from "../../ui/lists/List.js"
import { Page, PageHeader, Section } from "../../ui/page/Page.js"
import { Empty } from "../../ui/page/States.js"
import { notify } from "../../ui/floating/Toast.js"
import { OrganizationFields, organizationOf } from "./OrganizationFields.js"

export const OrganizationList = () => {
  const [isCreating, setCreating] = useState(false)
  const may = useMay({ create: { on: "organization", to: "create" } })
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const list = useQuery({
    queryKey: ["organizations", "list"],
    queryFn: ({ signal }) => organizations.listOrganizations(client, { signal })
  })
  const close = (): void => setCreating(false)
  return (
    <Page width="medium">
      <PageHeader
        title={organizationsText.title}
        description={organizationsText.description}
        actions={
          may.create ? (
            <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
              {organizationsText.create}
            </Button>
          ) : undefined
        }
      />
      <Section isFlush>
        <List
          query={list}
          empty={<Empty icon={<Building2 />} title={organizationsText.none} />}
          row={({ description, display_name, icon, id, is_default, name }) => (
            <ListRow
              key={id}
              lead={<Avatar name={display_name || name} src={icon} size={30} isThing />}
              title={display_name || name}
              second={description || name}
              link={{ to: "/organizations/$organization/members", params: { organization: name } }}
            >
              {is_default ? <Badge>{organizationsText.isDefault}</Badge> : null}
            </ListRow>
          )}
        />
      </Section>
      <Dialog isOpen={isCreating} onClose={close} title={organizationsText.createTitle}>
        <Form
          onSubmit={async (form) => {
            const created = await organizations.createOrganization(client, { body: organizationOf(form) })
            await queryClient.invalidateQueries({ queryKey: ["organizations"] })
            await queryClient.invalidateQueries({ queryKey: ["me", "organizations"] })
            close()
            notify(organizationsText.created(created.display_name || created.name))
            void navigate({ to: "/organizations/$organization/members", params: { organization: created.name } })
          }}
        >
          <OrganizationFields />
          <FormActions>
            <Button onClick={close}>{dialogText.cancel}</Button>
            <Button type="submit" kind="primary">
              {organizationsText.submit}
            </Button>
          </FormActions>
        </Form>
      </Dialog>
    </Page>
  )
}
