terraform {
  required_providers {
    coder = {
      source = "coder/coder"
    }
  }
}

data "coder_workspace" "me" {}

data "coder_workspace_owner" "me" {}

resource "coder_agent" "main" {
  os   = "linux"
  arch = "amd64"
}

# Put a machine of your provider here. It has to run coder_agent.main.init_script with the variable CODER_AGENT_TOKEN.
resource "terraform_data" "machine" {
  count = data.coder_workspace.me.start_count
  input = {
    owner = data.coder_workspace_owner.me.name
    token = coder_agent.main.token
  }
}
