import { Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { missingTemplate, type TemplateWithNames } from "./Template.js"

/** Returns the template that was found if it is not deleted and the actor may read it. Fails with `NotFound` otherwise. */
export const visibleTemplate = (found: Option.Option<TemplateWithNames>) =>
  Access.visible(Option.getOrNull(Option.filter(found, ({ deleted }) => !deleted)), AccessObjects.template, missingTemplate)
