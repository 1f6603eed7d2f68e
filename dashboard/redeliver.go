package dashboard

import (
	"context"
	"fmt"
	"strconv"

	"onejob/jobs"
)

// actionRedeliver is how the audit log names what redeliver does.
const actionRedeliver = "redeliver-webhook"

// redeliver is POST /jobs/{id}/webhooks/{n}/redeliver: a delivery is made again, from
// the start of its schedule and under its old id, by which receivers tell that it is
// the same. It changes nothing about the job, so the version is not asked for.
func (p *Pages) redeliver(v *visit) error {
	number, err := strconv.Atoi(v.r.PathValue("n"))
	if err != nil || number < 1 {
		return refuse("not-found", "The job has no webhook delivery with that number.")
	}
	reason, err := v.reason()
	if err != nil {
		return err
	}
	id := v.r.PathValue("id")
	op := v.field("op")
	if !ops.MatchString(op) {
		op = jobs.NewOp()
	}
	err = v.change(actionRedeliver, fmt.Sprintf("%s delivery %d", id, number), reason, func(ctx context.Context) error {
		changed, err := p.cfg.Jobs.Store.Redeliver(ctx, jobs.Decision{JobID: id, Actor: actor(v.who), Reason: reason, Op: op}, number)
		if err != nil {
			return refusedVerb(err)
		}
		p.wake(ctx, changed)
		return nil
	})
	if err != nil {
		return err
	}
	return v.done(fmt.Sprintf("Delivery %d is made again, from the start of its schedule.", number), jobURL(id))
}

// wake has what a verb opened woken.
func (p *Pages) wake(ctx context.Context, changed jobs.Changed) {
	for _, w := range changed.Wakes {
		p.cfg.Jobs.Waker.Wake(ctx, w)
	}
}
