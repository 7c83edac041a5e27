/** What engines of containers share: what a template says of its containers. `docs/extending.md` shows how to write an engine. */
export { type ContainerImage, type ContainerSpec, homeVolume, type SidecarSpec, type VolumeSpec } from "./ContainerSpec.js"
export { type EngineRules } from "../template/EngineRules.js"
export { type Evaluation, type PlacedFile } from "../template/Evaluation.js"
