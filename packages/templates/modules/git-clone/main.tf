terraform {
  required_providers {
    coder = {
      source = "coder/coder"
    }
  }
}

variable "agent_id" {
  type = string
}

variable "url" {
  type = string
}

variable "folder" {
  type    = string
  default = ""
}

# Both values travel in base64, so that no character of them is read by the shell.
resource "coder_script" "clone" {
  agent_id           = var.agent_id
  display_name       = "Clone ${var.url}"
  icon               = "/icon/git.svg"
  run_on_start       = true
  start_blocks_login = true
  script             = <<-EOT
    set -eu
    url=$(printf %s '${base64encode(var.url)}' | base64 -d)
    folder=$(printf %s '${base64encode(var.folder)}' | base64 -d)
    [ -n "$folder" ] || folder=$(basename "$url" .git)
    cd
    [ -e "$folder" ] || git clone -- "$url" "$folder"
  EOT
}
