import * as quotas from "@atelier/client/quotas"
import { useQuery } from "@tanstack/react-query"
import { client } from "../../app/client.js"
import { userText } from "../../texts/people.js"

/** What the user's workspaces cost a day, of what its groups allow. */
export const Quota = ({ organization, user }: { readonly organization: string; readonly user: string }) => {
  const { data } = useQuery({
    queryKey: ["users", "quota", user, organization],
    queryFn: ({ signal }) => quotas.getMemberQuota(client, { organization, user }, { signal }),
    retry: false
  })
  // Without the feature there is no budget
  if (data === undefined || data.budget < 0) return null
  return <span className="faint">{userText.quota(data.credits_consumed, data.budget)}</span>
}
