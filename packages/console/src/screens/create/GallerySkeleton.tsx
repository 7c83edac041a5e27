/** A gallery whose cards are still read. */
import { Skeleton, SkeletonLines } from "../../ui/page/States.js"
import "./Gallery.css"

export const GallerySkeleton = () => (
  <div className="gallery" aria-hidden>
    {Array.from({ length: 6 }, (_, index) => (
      <div key={index} className="gallery-card">
        <Skeleton width={40} height={40} />
        <SkeletonLines count={3} />
      </div>
    ))}
  </div>
)
