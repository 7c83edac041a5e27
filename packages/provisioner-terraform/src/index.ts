export * as TerraformProvisioner from "./TerraformProvisioner.js"
