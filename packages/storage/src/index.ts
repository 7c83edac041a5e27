import { Layer } from "effect"
import { layer as agentLogs } from "./agents/AgentLogRepository.js"
import { layer as agentMetadata } from "./agents/AgentMetadataRepository.js"
import { layer as agents } from "./agents/AgentRepository.js"
import { layer as agentStats } from "./agents/AgentStatRepository.js"
import { layer as buildResources } from "./agents/BuildResourceRepository.js"
import { layer as audit } from "./audit/AuditRepository.js"
import { layer as deploymentValues } from "./deployment/DeploymentValues.js"
import { layer as aiBudgets } from "./groups/AiBudgetRepository.js"
import { layer as aiSpend } from "./groups/AiSpendRepository.js"
import { layer as grantees } from "./groups/GranteeRepository.js"
import { layer as groups } from "./groups/GroupRepository.js"
import { layer as accounts } from "./identity/AccountRepository.js"
import { layer as apiKeys } from "./identity/ApiKeyRepository.js"
import { layer as dormancy } from "./identity/DormancyRepository.js"
import { layer as gitSshKeys } from "./identity/GitSshKeyRepository.js"
import { layer as passcodes } from "./identity/PasscodeRepository.js"
import { layer as idpSync } from "./identity/IdpSyncRepository.js"
import { layer as loginSync } from "./identity/LoginSyncRepository.js"
import { layer as claims } from "./identity/ClaimRepository.js"
import { layer as scimUsers } from "./identity/ScimUserRepository.js"
import { layer as sessions } from "./identity/SessionRepository.js"
import { layer as userDeletions } from "./identity/UserDeletionRepository.js"
import { layer as userDirectory } from "./identity/UserDirectoryRepository.js"
import { layer as userLinks } from "./identity/UserLinkRepository.js"
import { layer as userSettings } from "./identity/UserSettingsRepository.js"
import { layer as users } from "./identity/UserRepository.js"
import { layer as userSecrets } from "./identity/UserSecretRepository.js"
import { layer as migrations } from "./Migrations.js"
import { layer as customRoles } from "./organizations/CustomRoleRepository.js"
import { layer as members } from "./organizations/MemberRepository.js"
import { layer as organizationChanges } from "./organizations/OrganizationChangeRepository.js"
import { layer as organizations } from "./organizations/OrganizationRepository.js"
import { layer as rights } from "./organizations/RightsRepository.js"
import { layer as transactor } from "./platform/Transactor.js"
import { layer as files } from "./provisioning/FileRepository.js"
import { layer as provisionerDaemons } from "./provisioning/ProvisionerDaemonRepository.js"
import { layer as provisionerJobs } from "./provisioning/ProvisionerJobRepository.js"
import { layer as templates } from "./templates/TemplateRepository.js"
import { layer as templateVersions } from "./templates/TemplateVersionRepository.js"
import { layer as buildFollowUps } from "./workspaces/BuildFollowUpRepository.js"
import { layer as parameterAutofill } from "./workspaces/ParameterAutofillRepository.js"
import { layer as quotas } from "./workspaces/QuotaRepository.js"
import { layer as workspaceBuilds } from "./workspaces/WorkspaceBuildRepository.js"
import { layer as workspaceSharing } from "./workspaces/WorkspaceSharingRepository.js"
import { layer as workspaces } from "./workspaces/WorkspaceRepository.js"

/** Every repository port and the transactor, on a SQL client whose schema is brought up to date first. */
export const layer = Layer.mergeAll(
  transactor,
  deploymentValues,
  users,
  userSettings,
  userDeletions,
  userLinks,
  userDirectory,
  accounts,
  apiKeys,
  passcodes,
  idpSync,
  loginSync,
  claims,
  scimUsers,
  sessions,
  gitSshKeys,
  dormancy,
  userSecrets,
  organizations,
  groups,
  grantees,
  aiBudgets,
  aiSpend,
  organizationChanges,
  members,
  customRoles,
  rights,
  files,
  provisionerJobs,
  provisionerDaemons,
  templates,
  templateVersions,
  workspaces,
  workspaceSharing,
  parameterAutofill,
  quotas,
  workspaceBuilds,
  buildFollowUps,
  buildResources,
  agents,
  agentLogs,
  agentMetadata,
  agentStats,
  audit
).pipe(Layer.provideMerge(migrations))

/** What `layer` provides. */
export type Repositories = Layer.Layer.Success<typeof layer>
