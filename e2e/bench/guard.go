package main

import "context"

func guard(ctx context.Context, s settings) error { return nil }
