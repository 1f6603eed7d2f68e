package providers

// capable returns front with the Lookup and Cancel of base, as far as base has
// them: what a wrapper hides, nobody could ask for any more, and what it adds,
// onejob would rely on.
func capable(front, base Provider) Provider {
	looks, canLook := base.(Lookuper)
	cancels, canCancel := base.(Canceler)
	switch {
	case canLook && canCancel:
		return struct {
			Provider
			Lookuper
			Canceler
		}{front, looks, cancels}
	case canLook:
		return struct {
			Provider
			Lookuper
		}{front, looks}
	case canCancel:
		return struct {
			Provider
			Canceler
		}{front, cancels}
	default:
		return front
	}
}
