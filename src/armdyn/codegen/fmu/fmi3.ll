; Compiled from fmi3.c by tools/fmu_runtime.py. Sources: 0bb1c8c57be1de3f

%struct.Layout.0 = type { double, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32 }
%struct.Instance.1 = type { ptr, ptr, i32, ptr, ptr, [64 x i8] }
%struct.__va_list_tag.2 = type { i32, i32, ptr, ptr }

@.str = private unnamed_addr constant [4 x i8] c"3.0\00", align 1
@.str.1 = private unnamed_addr constant [48 x i8] c"as many values as value references are expected\00", align 1
@.str.2 = private unnamed_addr constant [26 x i8] c"all variables are Float64\00", align 1
@.str.3 = private unnamed_addr constant [41 x i8] c"dependencies are in modelDescription.xml\00", align 1
@model = external constant %struct.Layout.0, align 8
@.str.4 = private unnamed_addr constant [37 x i8] c"partial derivatives are not provided\00", align 1
@.str.5 = private unnamed_addr constant [20 x i8] c"there are no clocks\00", align 1
@.str.6 = private unnamed_addr constant [30 x i8] c"there are no event indicators\00", align 1
@.str.7 = private unnamed_addr constant [40 x i8] c"derivatives of outputs are not provided\00", align 1
@.str.8 = private unnamed_addr constant [3 x i8] c"%s\00", align 1
@.str.9 = private unnamed_addr constant [1 x i8] zeroinitializer, align 1
@model_token = external constant [0 x i8], align 1
@.str.10 = private unnamed_addr constant [71 x i8] c"the instantiation token is not that of this FMU, or there is no memory\00", align 1
@model_start = external constant [0 x double], align 8
@.str.11 = private unnamed_addr constant [17 x i8] c"logStatusDiscard\00", align 1
@.str.12 = private unnamed_addr constant [15 x i8] c"logStatusError\00", align 1
@.str.13 = private unnamed_addr constant [24 x i8] c"there is no variable %u\00", align 1
@.str.14 = private unnamed_addr constant [123 x i8] c"variable %d is not finite: input that is not, or a configuration in which the mechanism is singular or cannot be assembled\00", align 1
@.str.15 = private unnamed_addr constant [26 x i8] c"variable %u cannot be set\00", align 1
@.str.16 = private unnamed_addr constant [32 x i8] c"variable %u would not be finite\00", align 1
@.str.17 = private unnamed_addr constant [10 x i8] c"no memory\00", align 1
@.str.18 = private unnamed_addr constant [22 x i8] c"wrong size of a state\00", align 1
@.str.19 = private unnamed_addr constant [34 x i8] c"%d continuous states are expected\00", align 1
@.str.20 = private unnamed_addr constant [44 x i8] c"a step of co-simulation has a positive size\00", align 1
@.str.21 = private unnamed_addr constant [30 x i8] c"more than %d steps are needed\00", align 1
@.str.22 = private unnamed_addr constant [63 x i8] c"the motion cannot be continued at %g s: a result is not finite\00", align 1
@PART = internal constant [7 x [6 x double]] [[6 x double] zeroinitializer, [6 x double] [double 2.000000e-01, double 0.000000e+00, double 0.000000e+00, double 0.000000e+00, double 0.000000e+00, double 0.000000e+00], [6 x double] [double 0x3FB3333333333333, double 2.250000e-01, double 0.000000e+00, double 0.000000e+00, double 0.000000e+00, double 0.000000e+00], [6 x double] [double 0x3FEF49F49F49F49F, double 0xC00DDDDDDDDDDDDE, double 0x400C71C71C71C71C, double 0.000000e+00, double 0.000000e+00, double 0.000000e+00], [6 x double] [double 0x40079EEC0FC37181, double 0xC027310BD29520E4, double 0x4023A552363C5290, double 0xBFD29C9EBA1E3345, double 0.000000e+00, double 0.000000e+00], [6 x double] [double 0x4006C52BF5A814B0, double 0xC02583E0F83E0F84, double 0x4021D016A3721E8B, double 0x3FD1D1745D1745D1, double 0xBFD1818970D9CC2F, double 0.000000e+00], [6 x double] [double 0x3FB7555555555555, double 0.000000e+00, double 0x3FDCC0499A5605FB, double 0x3FE4D55555555555, double 0xBFD4A1CFB2B78C13, double 0x3FC0C30C30C30C31]], align 16
@ERROR_OF = internal constant [7 x double] [double 0x3F54320FEDCBA987, double 0.000000e+00, double 0xBF716B5A550ABFC4, double 0x3FA2EEEEEEEEEEEF, double 0xBFAA0AD1D2CA1858, double 0x3FA5748A7BDAF0E2, double -2.500000e-02], align 16
@model_quaternions = external constant [0 x i32], align 4

define ptr @fmi3GetVersion() {
  ret ptr @.str
}

define i32 @fmi3SetDebugLogging(ptr %0, i1 zeroext %1, i64 %2, ptr %3) {
  %5 = zext i1 %1 to i8
  %6 = trunc i8 %5 to i1
  ret i32 0
}

define ptr @fmi3InstantiateModelExchange(ptr %0, ptr %1, ptr %2, i1 zeroext %3, i1 zeroext %4, ptr %5, ptr %6) {
  %8 = zext i1 %3 to i8
  %9 = zext i1 %4 to i8
  %10 = trunc i8 %8 to i1
  %11 = trunc i8 %9 to i1
  %12 = call ptr @made(ptr %1, ptr %0, ptr %6, ptr %5, i32 0)
  ret ptr %12
}

define internal ptr @made(ptr %0, ptr %1, ptr %2, ptr %3, i32 %4) {
  %6 = call ptr @calloc(i64 1, i64 104)
  %7 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %8 = sext i32 %7 to i64
  %9 = icmp ne ptr %6, null
  br i1 %9, label %10, label %45

10:
  %11 = getelementptr inbounds %struct.Instance.1, ptr %6, i32 0, i32 3
  store ptr %2, ptr %11, align 8
  %12 = getelementptr inbounds %struct.Instance.1, ptr %6, i32 0, i32 4
  store ptr %3, ptr %12, align 8
  %13 = getelementptr inbounds %struct.Instance.1, ptr %6, i32 0, i32 2
  store i32 %4, ptr %13, align 8
  %14 = getelementptr inbounds %struct.Instance.1, ptr %6, i32 0, i32 5
  %15 = getelementptr inbounds [64 x i8], ptr %14, i64 0, i64 0
  %16 = icmp ne ptr %1, null
  %..str.9 = select i1 %16, ptr %1, ptr @.str.9
  %17 = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %15, i64 64, ptr @.str.8, ptr %..str.9)
  %18 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %19 = sext i32 %18 to i64
  %20 = add i64 %19, 3
  %21 = call ptr @calloc(i64 %20, i64 8)
  %22 = getelementptr inbounds %struct.Instance.1, ptr %6, i32 0, i32 0
  store ptr %21, ptr %22, align 8
  %23 = mul i64 9, %8
  %24 = add i64 %23, 1
  %25 = call ptr @calloc(i64 %24, i64 8)
  %26 = getelementptr inbounds %struct.Instance.1, ptr %6, i32 0, i32 1
  store ptr %25, ptr %26, align 8
  %27 = getelementptr inbounds %struct.Instance.1, ptr %6, i32 0, i32 0
  %28 = load ptr, ptr %27, align 8
  %29 = icmp ne ptr %28, null
  br i1 %29, label %30, label %38

30:
  %31 = getelementptr inbounds %struct.Instance.1, ptr %6, i32 0, i32 1
  %32 = load ptr, ptr %31, align 8
  %33 = icmp ne ptr %32, null
  %34 = icmp ne ptr %0, null
  %or.cond = and i1 %33, %34
  br i1 %or.cond, label %35, label %38

35:
  %36 = call i32 @strcmp(ptr %0, ptr @model_token)
  %37 = icmp ne i32 %36, 0
  br i1 %37, label %38, label %44

38:
  %39 = call i32 (ptr, i32, ptr, ...) @failed(ptr %6, i32 3, ptr @.str.10)
  %40 = getelementptr inbounds %struct.Instance.1, ptr %6, i32 0, i32 0
  %41 = load ptr, ptr %40, align 8
  call void @free(ptr %41)
  %42 = getelementptr inbounds %struct.Instance.1, ptr %6, i32 0, i32 1
  %43 = load ptr, ptr %42, align 8
  call void @free(ptr %43)
  call void @free(ptr %6)
  br label %45

44:
  call void @restart(ptr %6)
  br label %45

45:
  %.0 = phi ptr [ null, %38 ], [ %6, %44 ], [ null, %5 ]
  ret ptr %.0
}

define ptr @fmi3InstantiateCoSimulation(ptr %0, ptr %1, ptr %2, i1 zeroext %3, i1 zeroext %4, i1 zeroext %5, i1 zeroext %6, ptr %7, i64 %8, ptr %9, ptr %10, ptr %11) {
  %13 = zext i1 %3 to i8
  %14 = zext i1 %4 to i8
  %15 = zext i1 %5 to i8
  %16 = zext i1 %6 to i8
  %17 = trunc i8 %13 to i1
  %18 = trunc i8 %14 to i1
  %19 = trunc i8 %15 to i1
  %20 = trunc i8 %16 to i1
  %21 = call ptr @made(ptr %1, ptr %0, ptr %10, ptr %9, i32 1)
  ret ptr %21
}

define ptr @fmi3InstantiateScheduledExecution(ptr %0, ptr %1, ptr %2, i1 zeroext %3, i1 zeroext %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9) {
  %11 = zext i1 %3 to i8
  %12 = zext i1 %4 to i8
  %13 = trunc i8 %11 to i1
  %14 = trunc i8 %12 to i1
  ret ptr null
}

define void @fmi3FreeInstance(ptr %0) {
  call void @freed(ptr %0)
  ret void
}

define internal void @freed(ptr %0) {
  %2 = icmp ne ptr %0, null
  br i1 %2, label %3, label %8

3:
  %4 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %5 = load ptr, ptr %4, align 8
  call void @free(ptr %5)
  %6 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 1
  %7 = load ptr, ptr %6, align 8
  call void @free(ptr %7)
  call void @free(ptr %0)
  br label %8

8:
  ret void
}

define i32 @fmi3EnterInitializationMode(ptr %0, i1 zeroext %1, double %2, double %3, i1 zeroext %4, double %5) {
  %7 = zext i1 %1 to i8
  %8 = zext i1 %4 to i8
  %9 = trunc i8 %8 to i1
  %10 = trunc i8 %7 to i1
  %11 = zext i1 %10 to i32
  call void @initialised(ptr %0, double %3, i32 %11, double %2)
  ret i32 0
}

define internal void @initialised(ptr %0, double %1, i32 %2, double %3) {
  %5 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %6 = load ptr, ptr %5, align 8
  %7 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %8 = add nsw i32 %7, 2
  %9 = sext i32 %8 to i64
  %10 = getelementptr inbounds double, ptr %6, i64 %9
  store double %1, ptr %10, align 8
  %11 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds double, ptr %12, i64 0
  store double %1, ptr %13, align 8
  %14 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %15 = icmp sgt i32 %14, 0
  %16 = icmp ne i32 %2, 0
  %or.cond = and i1 %15, %16
  %17 = fcmp ogt double %3, 0.000000e+00
  %or.cond6 = and i1 %or.cond, %17
  br i1 %or.cond6, label %18, label %25

18:
  %19 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %20 = load ptr, ptr %19, align 8
  %21 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 2), align 4
  %22 = sub nsw i32 %21, 1
  %23 = sext i32 %22 to i64
  %24 = getelementptr inbounds double, ptr %20, i64 %23
  store double %3, ptr %24, align 8
  br label %25

25:
  ret void
}

define i32 @fmi3ExitInitializationMode(ptr %0) {
  ret i32 0
}

define i32 @fmi3EnterEventMode(ptr %0) {
  ret i32 0
}

define i32 @fmi3EnterContinuousTimeMode(ptr %0) {
  ret i32 0
}

define i32 @fmi3EnterStepMode(ptr %0) {
  ret i32 0
}

define i32 @fmi3EnterConfigurationMode(ptr %0) {
  ret i32 0
}

define i32 @fmi3ExitConfigurationMode(ptr %0) {
  ret i32 0
}

define i32 @fmi3Terminate(ptr %0) {
  ret i32 0
}

define i32 @fmi3Reset(ptr %0) {
  call void @restart(ptr %0)
  ret i32 0
}

define internal void @restart(ptr %0) {
  %2 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %3 = load ptr, ptr %2, align 8
  %4 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %5 = sext i32 %4 to i64
  %6 = add i64 %5, 3
  %7 = mul i64 %6, 8
  call void @llvm.memset.p0.i64(ptr align 8 %3, i8 0, i64 %7, i1 false)
  %8 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %9 = load ptr, ptr %8, align 8
  %10 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 2), align 4
  %11 = sext i32 %10 to i64
  %12 = mul i64 %11, 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %9, ptr align 8 @model_start, i64 %12, i1 false)
  ret void
}

define i32 @fmi3GetFloat64(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, %4
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.1)
  br label %11

9:
  %10 = call i32 @got(ptr %0, ptr %1, i64 %2, ptr %3)
  br label %11

11:
  %.0 = phi i32 [ %8, %7 ], [ %10, %9 ]
  ret i32 %.0
}

define internal i32 @failed(ptr %0, i32 %1, ptr %2, ...) {
  %4 = alloca [256 x i8], align 16
  %5 = alloca [1 x %struct.__va_list_tag.2], align 16
  %6 = getelementptr inbounds [1 x %struct.__va_list_tag.2], ptr %5, i64 0, i64 0
  call void @llvm.va_start.p0(ptr %6)
  %7 = getelementptr inbounds [256 x i8], ptr %4, i64 0, i64 0
  %8 = getelementptr inbounds [1 x %struct.__va_list_tag.2], ptr %5, i64 0, i64 0
  %9 = call i32 @vsnprintf(ptr %7, i64 256, ptr %2, ptr %8)
  %10 = getelementptr inbounds [1 x %struct.__va_list_tag.2], ptr %5, i64 0, i64 0
  call void @llvm.va_end.p0(ptr %10)
  %11 = icmp ne ptr %0, null
  br i1 %11, label %12, label %18

12:
  %13 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 3
  %14 = load ptr, ptr %13, align 8
  %15 = icmp ne ptr %14, null
  br i1 %15, label %16, label %18

16:
  %17 = getelementptr inbounds [256 x i8], ptr %4, i64 0, i64 0
  call void @say(ptr %0, i32 %1, ptr %17)
  br label %18

18:
  ret i32 %1
}

define internal i32 @got(ptr %0, ptr %1, i64 %2, ptr %3) {
  br label %5

5:
  %.024 = phi i32 [ 0, %4 ], [ %.125, %26 ]
  %.023 = phi i64 [ 0, %4 ], [ %27, %26 ]
  %6 = icmp ult i64 %.023, %2
  br i1 %6, label %7, label %28

7:
  %8 = getelementptr inbounds i32, ptr %1, i64 %.023
  %9 = load i32, ptr %8, align 4
  %10 = getelementptr inbounds i32, ptr %1, i64 %.023
  %11 = load i32, ptr %10, align 4
  %12 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 2), align 4
  %13 = icmp uge i32 %11, %12
  br i1 %13, label %14, label %18

14:
  %15 = getelementptr inbounds i32, ptr %1, i64 %.023
  %16 = load i32, ptr %15, align 4
  %17 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.13, i32 %16)
  br label %40

18:
  %19 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 5), align 8
  %20 = icmp sge i32 %9, %19
  %21 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 6), align 4
  %22 = icmp slt i32 %9, %21
  %or.cond = select i1 %20, i1 %22, i1 false
  %23 = icmp eq i32 %.024, 0
  %or.cond27 = select i1 %or.cond, i1 %23, i1 false
  br i1 %or.cond27, label %24, label %26

24:
  %25 = call i32 @evaluated(ptr %0)
  br label %26

26:
  %.125 = phi i32 [ %25, %24 ], [ %.024, %18 ]
  %27 = add i64 %.023, 1
  br label %5

28:
  %.1 = phi i64 [ %39, %30 ], [ 0, %5 ]
  %29 = icmp ult i64 %.1, %2
  br i1 %29, label %30, label %40

30:
  %31 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %32 = load ptr, ptr %31, align 8
  %33 = getelementptr inbounds i32, ptr %1, i64 %.1
  %34 = load i32, ptr %33, align 4
  %35 = zext i32 %34 to i64
  %36 = getelementptr inbounds double, ptr %32, i64 %35
  %37 = load double, ptr %36, align 8
  %38 = getelementptr inbounds double, ptr %3, i64 %.1
  store double %37, ptr %38, align 8
  %39 = add i64 %.1, 1
  br label %28

40:
  %.0 = phi i32 [ %17, %14 ], [ %.024, %28 ]
  ret i32 %.0
}

define i32 @fmi3SetFloat64(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, %4
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.1)
  br label %11

9:
  %10 = call i32 @set(ptr %0, ptr %1, i64 %2, ptr %3)
  br label %11

11:
  %.0 = phi i32 [ %8, %7 ], [ %10, %9 ]
  ret i32 %.0
}

define internal i32 @set(ptr %0, ptr %1, i64 %2, ptr %3) {
  br label %5

5:
  %.027 = phi i64 [ 0, %4 ], [ %37, %36 ]
  %6 = icmp ult i64 %.027, %2
  br i1 %6, label %7, label %38

7:
  %8 = getelementptr inbounds i32, ptr %1, i64 %.027
  %9 = load i32, ptr %8, align 4
  %10 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 2), align 4
  %11 = icmp ult i32 %9, %10
  br i1 %11, label %12, label %15

12:
  %13 = getelementptr inbounds i32, ptr %1, i64 %.027
  %14 = load i32, ptr %13, align 4
  br label %15

15:
  %16 = phi i32 [ %14, %12 ], [ 0, %7 ]
  %17 = icmp slt i32 %16, 1
  br i1 %17, label %23, label %18

18:
  %19 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 5), align 8
  %20 = icmp sge i32 %16, %19
  %21 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 6), align 4
  %22 = icmp slt i32 %16, %21
  %or.cond = select i1 %20, i1 %22, i1 false
  br i1 %or.cond, label %23, label %27

23:
  %24 = getelementptr inbounds i32, ptr %1, i64 %.027
  %25 = load i32, ptr %24, align 4
  %26 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.15, i32 %25)
  br label %51

27:
  %28 = getelementptr inbounds double, ptr %3, i64 %.027
  %29 = load double, ptr %28, align 8
  %30 = call double @llvm.fabs.f64(double %29)
  %31 = fcmp ole double %30, 1.000000e+300
  br i1 %31, label %36, label %32

32:
  %33 = getelementptr inbounds i32, ptr %1, i64 %.027
  %34 = load i32, ptr %33, align 4
  %35 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.16, i32 %34)
  br label %51

36:
  %37 = add i64 %.027, 1
  br label %5

38:
  %.1 = phi i64 [ %49, %40 ], [ 0, %5 ]
  %39 = icmp ult i64 %.1, %2
  br i1 %39, label %40, label %50

40:
  %41 = getelementptr inbounds double, ptr %3, i64 %.1
  %42 = load double, ptr %41, align 8
  %43 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %44 = load ptr, ptr %43, align 8
  %45 = getelementptr inbounds i32, ptr %1, i64 %.1
  %46 = load i32, ptr %45, align 4
  %47 = zext i32 %46 to i64
  %48 = getelementptr inbounds double, ptr %44, i64 %47
  store double %42, ptr %48, align 8
  %49 = add i64 %.1, 1
  br label %38

50:
  call void @changed(ptr %0)
  br label %51

51:
  %.0 = phi i32 [ %26, %23 ], [ %35, %32 ], [ 0, %50 ]
  ret i32 %.0
}

define i32 @fmi3GetFloat32(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetFloat32(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetInt8(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetInt8(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetUInt8(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetUInt8(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetInt16(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetInt16(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetUInt16(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetUInt16(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetInt32(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetInt32(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetUInt32(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetUInt32(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetInt64(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetInt64(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetUInt64(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetUInt64(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetBoolean(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetBoolean(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetString(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetString(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetBinary(ptr %0, ptr %1, i64 %2, ptr %3, ptr %4, i64 %5) {
  %7 = icmp ne i64 %2, 0
  br i1 %7, label %8, label %10

8:
  %9 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %10

10:
  %11 = phi i32 [ %9, %8 ], [ 0, %6 ]
  ret i32 %11
}

define i32 @fmi3SetBinary(ptr %0, ptr %1, i64 %2, ptr %3, ptr %4, i64 %5) {
  %7 = icmp ne i64 %2, 0
  br i1 %7, label %8, label %10

8:
  %9 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.2)
  br label %10

10:
  %11 = phi i32 [ %9, %8 ], [ 0, %6 ]
  ret i32 %11
}

define i32 @fmi3GetNumberOfVariableDependencies(ptr %0, i32 %1, ptr %2) {
  %4 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.3)
  ret i32 %4
}

define i32 @fmi3GetVariableDependencies(ptr %0, i32 %1, ptr %2, ptr %3, ptr %4, ptr %5, i64 %6) {
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.3)
  ret i32 %8
}

define i32 @fmi3GetFMUState(ptr %0, ptr %1) {
  %3 = call i32 @kept(ptr %0, ptr %1)
  ret i32 %3
}

define internal i32 @kept(ptr %0, ptr %1) {
  %3 = load ptr, ptr %1, align 8
  %4 = icmp ne ptr %3, null
  br i1 %4, label %11, label %5

5:
  %6 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %7 = sext i32 %6 to i64
  %8 = add i64 %7, 3
  %9 = mul i64 %8, 8
  %10 = call ptr @malloc(i64 %9)
  store ptr %10, ptr %1, align 8
  br label %11

11:
  %12 = load ptr, ptr %1, align 8
  %13 = icmp ne ptr %12, null
  br i1 %13, label %16, label %14

14:
  %15 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.17)
  br label %24

16:
  %17 = load ptr, ptr %1, align 8
  %18 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %19 = load ptr, ptr %18, align 8
  %20 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %21 = sext i32 %20 to i64
  %22 = add i64 %21, 3
  %23 = mul i64 %22, 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %17, ptr align 8 %19, i64 %23, i1 false)
  br label %24

24:
  %.0 = phi i32 [ 0, %16 ], [ %15, %14 ]
  ret i32 %.0
}

define i32 @fmi3SetFMUState(ptr %0, ptr %1) {
  %3 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %4 = sext i32 %3 to i64
  %5 = add i64 %4, 3
  %6 = mul i64 %5, 8
  %7 = call i32 @restored(ptr %0, ptr %1, i64 %6)
  ret i32 %7
}

define internal i32 @restored(ptr %0, ptr %1, i64 %2) {
  %4 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %5 = sext i32 %4 to i64
  %6 = add i64 %5, 3
  %7 = mul i64 %6, 8
  %8 = icmp ne i64 %2, %7
  br i1 %8, label %9, label %11

9:
  %10 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.18)
  br label %14

11:
  %12 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %13 = load ptr, ptr %12, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %13, ptr align 1 %1, i64 %2, i1 false)
  br label %14

14:
  %.0 = phi i32 [ %10, %9 ], [ 0, %11 ]
  ret i32 %.0
}

define i32 @fmi3FreeFMUState(ptr %0, ptr %1) {
  %3 = icmp ne ptr %1, null
  br i1 %3, label %4, label %6

4:
  %5 = load ptr, ptr %1, align 8
  call void @free(ptr %5)
  store ptr null, ptr %1, align 8
  br label %6

6:
  ret i32 0
}

declare void @free(ptr)

define i32 @fmi3SerializedFMUStateSize(ptr %0, ptr %1, ptr %2) {
  %4 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %5 = sext i32 %4 to i64
  %6 = add i64 %5, 3
  %7 = mul i64 %6, 8
  store i64 %7, ptr %2, align 8
  ret i32 0
}

define i32 @fmi3SerializeFMUState(ptr %0, ptr %1, ptr %2, i64 %3) {
  %5 = call i32 @written(ptr %0, ptr %1, ptr %2, i64 %3)
  ret i32 %5
}

define internal i32 @written(ptr %0, ptr %1, ptr %2, i64 %3) {
  %5 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %6 = sext i32 %5 to i64
  %7 = add i64 %6, 3
  %8 = mul i64 %7, 8
  %9 = icmp ne i64 %3, %8
  br i1 %9, label %10, label %12

10:
  %11 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.18)
  br label %13

12:
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %2, ptr align 1 %1, i64 %3, i1 false)
  br label %13

13:
  %.0 = phi i32 [ %11, %10 ], [ 0, %12 ]
  ret i32 %.0
}

define i32 @fmi3DeserializeFMUState(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = call i32 @kept(ptr %0, ptr %3)
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %7, label %10

7:
  %8 = load ptr, ptr %3, align 8
  %9 = call i32 @written(ptr %0, ptr %1, ptr %8, i64 %2)
  br label %10

10:
  %11 = phi i32 [ %9, %7 ], [ %5, %4 ]
  ret i32 %11
}

define i32 @fmi3GetDirectionalDerivative(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4, ptr %5, i64 %6, ptr %7, i64 %8) {
  %10 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.4)
  ret i32 %10
}

define i32 @fmi3GetAdjointDerivative(ptr %0, ptr %1, i64 %2, ptr %3, i64 %4, ptr %5, i64 %6, ptr %7, i64 %8) {
  %10 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.4)
  ret i32 %10
}

define i32 @fmi3GetClock(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = icmp ne i64 %2, 0
  br i1 %5, label %6, label %8

6:
  %7 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.5)
  br label %8

8:
  %9 = phi i32 [ %7, %6 ], [ 0, %4 ]
  ret i32 %9
}

define i32 @fmi3SetClock(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = icmp ne i64 %2, 0
  br i1 %5, label %6, label %8

6:
  %7 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.5)
  br label %8

8:
  %9 = phi i32 [ %7, %6 ], [ 0, %4 ]
  ret i32 %9
}

define i32 @fmi3GetShiftDecimal(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = icmp ne i64 %2, 0
  br i1 %5, label %6, label %8

6:
  %7 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.5)
  br label %8

8:
  %9 = phi i32 [ %7, %6 ], [ 0, %4 ]
  ret i32 %9
}

define i32 @fmi3SetShiftDecimal(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = icmp ne i64 %2, 0
  br i1 %5, label %6, label %8

6:
  %7 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.5)
  br label %8

8:
  %9 = phi i32 [ %7, %6 ], [ 0, %4 ]
  ret i32 %9
}

define i32 @fmi3SetIntervalDecimal(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = icmp ne i64 %2, 0
  br i1 %5, label %6, label %8

6:
  %7 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.5)
  br label %8

8:
  %9 = phi i32 [ %7, %6 ], [ 0, %4 ]
  ret i32 %9
}

define i32 @fmi3GetShiftFraction(ptr %0, ptr %1, i64 %2, ptr %3, ptr %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.5)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetShiftFraction(ptr %0, ptr %1, i64 %2, ptr %3, ptr %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.5)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3SetIntervalFraction(ptr %0, ptr %1, i64 %2, ptr %3, ptr %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.5)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetIntervalDecimal(ptr %0, ptr %1, i64 %2, ptr %3, ptr %4) {
  %6 = icmp ne i64 %2, 0
  br i1 %6, label %7, label %9

7:
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.5)
  br label %9

9:
  %10 = phi i32 [ %8, %7 ], [ 0, %5 ]
  ret i32 %10
}

define i32 @fmi3GetIntervalFraction(ptr %0, ptr %1, i64 %2, ptr %3, ptr %4, ptr %5) {
  %7 = icmp ne i64 %2, 0
  br i1 %7, label %8, label %10

8:
  %9 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.5)
  br label %10

10:
  %11 = phi i32 [ %9, %8 ], [ 0, %6 ]
  ret i32 %11
}

define i32 @fmi3EvaluateDiscreteStates(ptr %0) {
  ret i32 0
}

define i32 @fmi3UpdateDiscreteStates(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6) {
  store i8 0, ptr %5, align 1
  store i8 0, ptr %4, align 1
  store i8 0, ptr %3, align 1
  store i8 0, ptr %2, align 1
  store i8 0, ptr %1, align 1
  store double 0.000000e+00, ptr %6, align 8
  ret i32 0
}

define i32 @fmi3ActivateModelPartition(ptr %0, i32 %1, double %2) {
  %4 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.5)
  ret i32 %4
}

define i32 @fmi3CompletedIntegratorStep(ptr %0, i1 zeroext %1, ptr %2, ptr %3) {
  %5 = zext i1 %1 to i8
  %6 = trunc i8 %5 to i1
  store i8 0, ptr %3, align 1
  store i8 0, ptr %2, align 1
  ret i32 0
}

define i32 @fmi3SetTime(ptr %0, double %1) {
  %3 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %4 = load ptr, ptr %3, align 8
  %5 = getelementptr inbounds double, ptr %4, i64 0
  store double %1, ptr %5, align 8
  ret i32 0
}

define i32 @fmi3SetContinuousStates(ptr %0, ptr %1, i64 %2) {
  %4 = call i32 @states_set(ptr %0, ptr %1, i64 %2)
  ret i32 %4
}

define internal i32 @states_set(ptr %0, ptr %1, i64 %2) {
  %4 = call i32 @counted(ptr %0, i64 %2)
  %5 = icmp ne i32 %4, 0
  br i1 %5, label %19, label %6

6:
  %7 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %8 = load ptr, ptr %7, align 8
  %9 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 3), align 8
  %10 = sext i32 %9 to i64
  %11 = getelementptr inbounds double, ptr %8, i64 %10
  %12 = mul i64 %2, 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %11, ptr align 8 %1, i64 %12, i1 false)
  %13 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %14 = load ptr, ptr %13, align 8
  %15 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %16 = add nsw i32 %15, 1
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds double, ptr %14, i64 %17
  store double 0.000000e+00, ptr %18, align 8
  br label %19

19:
  %.0 = phi i32 [ 0, %6 ], [ 3, %3 ]
  ret i32 %.0
}

define i32 @fmi3GetContinuousStates(ptr %0, ptr %1, i64 %2) {
  %4 = call i32 @states_got(ptr %0, ptr %1, i64 %2)
  ret i32 %4
}

define internal i32 @states_got(ptr %0, ptr %1, i64 %2) {
  %4 = call i32 @counted(ptr %0, i64 %2)
  %5 = icmp ne i32 %4, 0
  br i1 %5, label %13, label %6

6:
  %7 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %8 = load ptr, ptr %7, align 8
  %9 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 3), align 8
  %10 = sext i32 %9 to i64
  %11 = getelementptr inbounds double, ptr %8, i64 %10
  %12 = mul i64 %2, 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %1, ptr align 8 %11, i64 %12, i1 false)
  br label %13

13:
  %.0 = phi i32 [ 0, %6 ], [ 3, %3 ]
  ret i32 %.0
}

define i32 @fmi3GetContinuousStateDerivatives(ptr %0, ptr %1, i64 %2) {
  %4 = call i32 @derivatives_got(ptr %0, ptr %1, i64 %2)
  ret i32 %4
}

define internal i32 @derivatives_got(ptr %0, ptr %1, i64 %2) {
  %4 = call i32 @counted(ptr %0, i64 %2)
  %5 = icmp eq i32 %4, 0
  br i1 %5, label %6, label %8

6:
  %7 = call i32 @evaluated(ptr %0)
  br label %8

8:
  %9 = phi i32 [ %7, %6 ], [ 3, %3 ]
  %10 = icmp eq i32 %9, 0
  br i1 %10, label %11, label %18

11:
  %12 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %13 = load ptr, ptr %12, align 8
  %14 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 5), align 8
  %15 = sext i32 %14 to i64
  %16 = getelementptr inbounds double, ptr %13, i64 %15
  %17 = mul i64 %2, 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %1, ptr align 8 %16, i64 %17, i1 false)
  br label %18

18:
  ret i32 %9
}

define i32 @fmi3GetNominalsOfContinuousStates(ptr %0, ptr %1, i64 %2) {
  %4 = call i32 @nominals_got(ptr %0, ptr %1, i64 %2)
  ret i32 %4
}

define internal i32 @nominals_got(ptr %0, ptr %1, i64 %2) {
  %4 = call i32 @counted(ptr %0, i64 %2)
  %5 = icmp ne i32 %4, 0
  br i1 %5, label %11, label %6

6:
  %.0 = phi i64 [ %10, %8 ], [ 0, %3 ]
  %7 = icmp ult i64 %.0, %2
  br i1 %7, label %8, label %11

8:
  %9 = getelementptr inbounds double, ptr %1, i64 %.0
  store double 1.000000e+00, ptr %9, align 8
  %10 = add i64 %.0, 1
  br label %6

11:
  %.07 = phi i32 [ 3, %3 ], [ 0, %6 ]
  ret i32 %.07
}

define i32 @fmi3GetEventIndicators(ptr %0, ptr %1, i64 %2) {
  %4 = icmp ne i64 %2, 0
  br i1 %4, label %5, label %7

5:
  %6 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.6)
  br label %7

7:
  %8 = phi i32 [ %6, %5 ], [ 0, %3 ]
  ret i32 %8
}

define i32 @fmi3GetNumberOfEventIndicators(ptr %0, ptr %1) {
  store i64 0, ptr %1, align 8
  ret i32 0
}

define i32 @fmi3GetNumberOfContinuousStates(ptr %0, ptr %1) {
  %3 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %4 = sext i32 %3 to i64
  store i64 %4, ptr %1, align 8
  ret i32 0
}

define i32 @fmi3GetOutputDerivatives(ptr %0, ptr %1, i64 %2, ptr %3, ptr %4, i64 %5) {
  %7 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.7)
  ret i32 %7
}

define i32 @fmi3DoStep(ptr %0, double %1, double %2, i1 zeroext %3, ptr %4, ptr %5, ptr %6, ptr %7) {
  %9 = zext i1 %3 to i8
  %10 = call i32 @stepped(ptr %0, double %1, double %2)
  %11 = trunc i8 %9 to i1
  store i8 0, ptr %6, align 1
  store i8 0, ptr %5, align 1
  store i8 0, ptr %4, align 1
  %12 = icmp eq i32 %10, 0
  %13 = fadd double %1, %2
  %14 = select i1 %12, double %13, double %1
  store double %14, ptr %7, align 8
  ret i32 %10
}

define internal i32 @stepped(ptr %0, double %1, double %2) {
  %4 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 2
  %5 = load i32, ptr %4, align 8
  %6 = icmp ne i32 %5, 0
  %7 = fcmp ogt double %2, 0.000000e+00
  %or.cond = and i1 %6, %7
  br i1 %or.cond, label %10, label %8

8:
  %9 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.20)
  br label %39

10:
  %11 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds double, ptr %12, i64 0
  store double %1, ptr %13, align 8
  %14 = load double, ptr @model, align 8
  %15 = fcmp ogt double %14, 0.000000e+00
  br i1 %15, label %16, label %19

16:
  %17 = fadd double %1, %2
  %18 = call i32 @sampled(ptr %0, double %17)
  br label %32

19:
  %20 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %21 = icmp ne i32 %20, 0
  br i1 %21, label %22, label %24

22:
  %23 = call i32 @integrated(ptr %0, double %2)
  br label %24

24:
  %25 = phi i32 [ %23, %22 ], [ 0, %19 ]
  %26 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %27 = load ptr, ptr %26, align 8
  %28 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %29 = add nsw i32 %28, 1
  %30 = sext i32 %29 to i64
  %31 = getelementptr inbounds double, ptr %27, i64 %30
  store double 0.000000e+00, ptr %31, align 8
  br label %32

32:
  %.0 = phi i32 [ %18, %16 ], [ %25, %24 ]
  %33 = icmp eq i32 %.0, 0
  br i1 %33, label %34, label %39

34:
  %35 = fadd double %1, %2
  %36 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %37 = load ptr, ptr %36, align 8
  %38 = getelementptr inbounds double, ptr %37, i64 0
  store double %35, ptr %38, align 8
  br label %39

39:
  %.016 = phi i32 [ %9, %8 ], [ %.0, %34 ], [ %.0, %32 ]
  ret i32 %.016
}

declare ptr @calloc(i64, i64)

declare i32 @snprintf(ptr, i64, ptr, ...)

declare i32 @strcmp(ptr, ptr)

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1 immarg)

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1 immarg)

declare void @llvm.va_start.p0(ptr)

declare i32 @vsnprintf(ptr, i64, ptr, ptr)

declare void @llvm.va_end.p0(ptr)

define internal void @say(ptr %0, i32 %1, ptr %2) {
  %4 = icmp eq i32 %1, 2
  %5 = zext i1 %4 to i64
  %6 = select i1 %4, ptr @.str.11, ptr @.str.12
  %7 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 3
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 4
  %10 = load ptr, ptr %9, align 8
  call void %8(ptr %10, i32 %1, ptr %6, ptr %2)
  ret void
}

define internal i32 @evaluated(ptr %0) {
  %2 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %3 = load ptr, ptr %2, align 8
  %4 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %5 = add nsw i32 %4, 1
  %6 = sext i32 %5 to i64
  %7 = getelementptr inbounds double, ptr %3, i64 %6
  %8 = load double, ptr %7, align 8
  %9 = fcmp oeq double %8, 0.000000e+00
  br i1 %9, label %10, label %25

10:
  %11 = load double, ptr @model, align 8
  %12 = fcmp ogt double %11, 0.000000e+00
  br i1 %12, label %13, label %16

13:
  %14 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %15 = load ptr, ptr %14, align 8
  call void @model_begin(ptr %15)
  br label %16

16:
  %17 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %18 = load ptr, ptr %17, align 8
  call void @model_evaluate(ptr %18)
  %19 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %20 = load ptr, ptr %19, align 8
  %21 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %22 = add nsw i32 %21, 1
  %23 = sext i32 %22 to i64
  %24 = getelementptr inbounds double, ptr %20, i64 %23
  store double 1.000000e+00, ptr %24, align 8
  br label %25

25:
  %26 = call i32 @finite(ptr %0)
  ret i32 %26
}

declare void @model_begin(ptr)

declare void @model_evaluate(ptr)

define internal i32 @finite(ptr %0) {
  %2 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 5), align 8
  br label %3

3:
  %.0 = phi i32 [ %2, %1 ], [ %17, %16 ]
  %4 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 6), align 4
  %5 = icmp slt i32 %.0, %4
  br i1 %5, label %6, label %18

6:
  %7 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %8 = load ptr, ptr %7, align 8
  %9 = sext i32 %.0 to i64
  %10 = getelementptr inbounds double, ptr %8, i64 %9
  %11 = load double, ptr %10, align 8
  %12 = call double @llvm.fabs.f64(double %11)
  %13 = fcmp ole double %12, 1.000000e+300
  br i1 %13, label %16, label %14

14:
  %15 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 2, ptr @.str.14, i32 %.0)
  br label %18

16:
  %17 = add nsw i32 %.0, 1
  br label %3

18:
  %.06 = phi i32 [ %15, %14 ], [ 0, %3 ]
  ret i32 %.06
}

declare double @llvm.fabs.f64(double)

define internal void @changed(ptr %0) {
  %2 = load double, ptr @model, align 8
  %3 = fcmp ogt double %2, 0.000000e+00
  br i1 %3, label %4, label %12

4:
  %5 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %6 = load ptr, ptr %5, align 8
  %7 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %8 = sext i32 %7 to i64
  %9 = getelementptr inbounds double, ptr %6, i64 %8
  %10 = load double, ptr %9, align 8
  %11 = fcmp ogt double %10, 0.000000e+00
  br i1 %11, label %19, label %12

12:
  %13 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %14 = load ptr, ptr %13, align 8
  %15 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %16 = add nsw i32 %15, 1
  %17 = sext i32 %16 to i64
  %18 = getelementptr inbounds double, ptr %14, i64 %17
  store double 0.000000e+00, ptr %18, align 8
  br label %19

19:
  ret void
}

declare ptr @malloc(i64)

define internal i32 @counted(ptr %0, i64 %1) {
  %3 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %4 = sext i32 %3 to i64
  %5 = icmp eq i64 %1, %4
  br i1 %5, label %9, label %6

6:
  %7 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %8 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.19, i32 %7)
  br label %9

9:
  %10 = phi i32 [ %8, %6 ], [ 0, %2 ]
  ret i32 %10
}

define internal i32 @sampled(ptr %0, double %1) {
  %3 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %4 = load ptr, ptr %3, align 8
  %5 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %6 = sext i32 %5 to i64
  %7 = getelementptr inbounds double, ptr %4, i64 %6
  %8 = load double, ptr %7, align 8
  %9 = load double, ptr @model, align 8
  %10 = fmul double %8, %9
  br label %11

11:
  %.0 = phi double [ %10, %2 ], [ %70, %40 ]
  %12 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %13 = load ptr, ptr %12, align 8
  %14 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %15 = add nsw i32 %14, 2
  %16 = sext i32 %15 to i64
  %17 = getelementptr inbounds double, ptr %13, i64 %16
  %18 = load double, ptr %17, align 8
  %19 = fsub double %1, %18
  %20 = load double, ptr @model, align 8
  %21 = fmul double 1.000000e-09, %20
  %22 = fsub double %19, %21
  %23 = fcmp olt double %.0, %22
  br i1 %23, label %24, label %71

24:
  %25 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %26 = load ptr, ptr %25, align 8
  %27 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 7), align 8
  %28 = sext i32 %27 to i64
  %29 = getelementptr inbounds double, ptr %26, i64 %28
  store double %.0, ptr %29, align 8
  %30 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %31 = load ptr, ptr %30, align 8
  %32 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %33 = sext i32 %32 to i64
  %34 = getelementptr inbounds double, ptr %31, i64 %33
  %35 = load double, ptr %34, align 8
  %36 = fcmp ogt double %35, 0.000000e+00
  br i1 %36, label %40, label %37

37:
  %38 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %39 = load ptr, ptr %38, align 8
  call void @model_begin(ptr %39)
  br label %40

40:
  %41 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %42 = load ptr, ptr %41, align 8
  call void @model_evaluate(ptr %42)
  %43 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %44 = load ptr, ptr %43, align 8
  %45 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 8), align 4
  %46 = sext i32 %45 to i64
  %47 = getelementptr inbounds double, ptr %44, i64 %46
  %48 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %49 = load ptr, ptr %48, align 8
  %50 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 9), align 8
  %51 = sext i32 %50 to i64
  %52 = getelementptr inbounds double, ptr %49, i64 %51
  %53 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 10), align 4
  %54 = sext i32 %53 to i64
  %55 = mul i64 %54, 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %47, ptr align 8 %52, i64 %55, i1 false)
  %56 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %57 = load ptr, ptr %56, align 8
  %58 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %59 = sext i32 %58 to i64
  %60 = getelementptr inbounds double, ptr %57, i64 %59
  %61 = load double, ptr %60, align 8
  %62 = fadd double %61, 1.000000e+00
  store double %62, ptr %60, align 8
  %63 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %64 = load ptr, ptr %63, align 8
  %65 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %66 = sext i32 %65 to i64
  %67 = getelementptr inbounds double, ptr %64, i64 %66
  %68 = load double, ptr %67, align 8
  %69 = load double, ptr @model, align 8
  %70 = fmul double %68, %69
  br label %11

71:
  %72 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %73 = load ptr, ptr %72, align 8
  %74 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %75 = add nsw i32 %74, 1
  %76 = sext i32 %75 to i64
  %77 = getelementptr inbounds double, ptr %73, i64 %76
  store double 1.000000e+00, ptr %77, align 8
  %78 = call i32 @finite(ptr %0)
  ret i32 %78
}

define internal i32 @integrated(ptr %0, double %1) {
  %3 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %4 = load ptr, ptr %3, align 8
  %5 = getelementptr inbounds double, ptr %4, i64 0
  %6 = load double, ptr %5, align 8
  %7 = fcmp olt double 0x3EB0C6F7A0B5ED8D, %1
  %. = select i1 %7, double 0x3EB0C6F7A0B5ED8D, double %1
  %8 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %9 = sext i32 %8 to i64
  %10 = mul i64 %9, 8
  %11 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %12 = load ptr, ptr %11, align 8
  %13 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %14 = sext i32 %13 to i64
  %15 = getelementptr inbounds double, ptr %12, i64 %14
  %16 = load double, ptr %15, align 8
  %17 = fcmp ogt double %16, 0.000000e+00
  br i1 %17, label %25, label %18

18:
  %19 = fdiv double %1, 1.000000e+01
  %20 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %21 = load ptr, ptr %20, align 8
  %22 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %23 = sext i32 %22 to i64
  %24 = getelementptr inbounds double, ptr %21, i64 %23
  store double %19, ptr %24, align 8
  br label %25

25:
  br label %26

26:
  %.062 = phi i64 [ 0, %25 ], [ %134, %133 ]
  %.061 = phi double [ 0.000000e+00, %25 ], [ %.1, %133 ]
  %27 = fcmp olt double %.061, %1
  br i1 %27, label %28, label %135

28:
  %29 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %30 = load ptr, ptr %29, align 8
  %31 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %32 = sext i32 %31 to i64
  %33 = getelementptr inbounds double, ptr %30, i64 %32
  %34 = load double, ptr %33, align 8
  %35 = fsub double %1, %.061
  %36 = fcmp oge double %34, %35
  %37 = zext i1 %36 to i32
  %38 = icmp ne i32 %37, 0
  br i1 %38, label %39, label %41

39:
  %40 = fsub double %1, %.061
  br label %48

41:
  %42 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %43 = load ptr, ptr %42, align 8
  %44 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %45 = sext i32 %44 to i64
  %46 = getelementptr inbounds double, ptr %43, i64 %45
  %47 = load double, ptr %46, align 8
  br label %48

48:
  %49 = phi double [ %40, %39 ], [ %47, %41 ]
  %50 = icmp eq i64 %.062, 1000000
  br i1 %50, label %51, label %53

51:
  %52 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.21, i32 1000000)
  br label %135

53:
  %54 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 1
  %55 = load ptr, ptr %54, align 8
  %56 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %57 = load ptr, ptr %56, align 8
  %58 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 3), align 8
  %59 = sext i32 %58 to i64
  %60 = getelementptr inbounds double, ptr %57, i64 %59
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %55, ptr align 8 %60, i64 %10, i1 false)
  %61 = call double @attempted(ptr %0, double %49)
  %62 = fcmp olt double %61, 0.000000e+00
  %63 = fcmp ole double %49, %.
  %or.cond = select i1 %62, i1 %63, i1 false
  br i1 %or.cond, label %64, label %67

64:
  %65 = fadd double %6, %.061
  %66 = call i32 (ptr, i32, ptr, ...) @failed(ptr %0, i32 3, ptr @.str.22, double %65)
  br label %135

67:
  %68 = fcmp olt double %61, 0.000000e+00
  br i1 %68, label %75, label %69

69:
  %70 = fcmp ogt double %61, 0.000000e+00
  %71 = call double @llvm.sqrt.f64(double %61)
  %72 = call double @llvm.sqrt.f64(double %71)
  %73 = fdiv double 9.000000e-01, %72
  %74 = select i1 %70, double %73, double 5.000000e+00
  br label %75

75:
  %76 = phi double [ %74, %69 ], [ 2.000000e-01, %67 ]
  %77 = fcmp olt double %76, 2.000000e-01
  %78 = fcmp ogt double %76, 5.000000e+00
  %.63 = select i1 %78, double 5.000000e+00, double %76
  %79 = select i1 %77, double 2.000000e-01, double %.63
  %80 = fmul double %49, %79
  %81 = fcmp ogt double %80, %.
  %82 = fmul double %49, %79
  %83 = select i1 %81, double %82, double %.
  %84 = fcmp oge double %61, 0.000000e+00
  br i1 %84, label %85, label %120

85:
  %86 = fcmp ole double %61, 1.000000e+00
  %87 = fcmp ole double %49, %.
  %or.cond64 = select i1 %86, i1 true, i1 %87
  br i1 %or.cond64, label %88, label %120

88:
  %89 = icmp ne i32 %37, 0
  %90 = fadd double %.061, %49
  %91 = select i1 %89, double %1, double %90
  %92 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %93 = load ptr, ptr %92, align 8
  %94 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 3), align 8
  %95 = sext i32 %94 to i64
  %96 = getelementptr inbounds double, ptr %93, i64 %95
  call void @tidied(ptr %96)
  %97 = icmp ne i32 %37, 0
  br i1 %97, label %98, label %113

98:
  %99 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %100 = load ptr, ptr %99, align 8
  %101 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %102 = sext i32 %101 to i64
  %103 = getelementptr inbounds double, ptr %100, i64 %102
  %104 = load double, ptr %103, align 8
  %105 = fcmp ogt double %104, %83
  br i1 %105, label %106, label %113

106:
  %107 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %108 = load ptr, ptr %107, align 8
  %109 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %110 = sext i32 %109 to i64
  %111 = getelementptr inbounds double, ptr %108, i64 %110
  %112 = load double, ptr %111, align 8
  br label %113

113:
  %114 = phi double [ %112, %106 ], [ %83, %98 ], [ %83, %88 ]
  %115 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %116 = load ptr, ptr %115, align 8
  %117 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %118 = sext i32 %117 to i64
  %119 = getelementptr inbounds double, ptr %116, i64 %118
  store double %114, ptr %119, align 8
  br label %133

120:
  %121 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %122 = load ptr, ptr %121, align 8
  %123 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 3), align 8
  %124 = sext i32 %123 to i64
  %125 = getelementptr inbounds double, ptr %122, i64 %124
  %126 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 1
  %127 = load ptr, ptr %126, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %125, ptr align 8 %127, i64 %10, i1 false)
  %128 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %129 = load ptr, ptr %128, align 8
  %130 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 1), align 8
  %131 = sext i32 %130 to i64
  %132 = getelementptr inbounds double, ptr %129, i64 %131
  store double %83, ptr %132, align 8
  br label %133

133:
  %.1 = phi double [ %91, %113 ], [ %.061, %120 ]
  %134 = add nsw i64 %.062, 1
  br label %26

135:
  %.0 = phi i32 [ %52, %51 ], [ %66, %64 ], [ 0, %26 ]
  ret i32 %.0
}

define internal double @attempted(ptr %0, double %1) {
  %3 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %4 = load ptr, ptr %3, align 8
  %5 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 3), align 8
  %6 = sext i32 %5 to i64
  %7 = getelementptr inbounds double, ptr %4, i64 %6
  %8 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %9 = load ptr, ptr %8, align 8
  %10 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 5), align 8
  %11 = sext i32 %10 to i64
  %12 = getelementptr inbounds double, ptr %9, i64 %11
  %13 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 1
  %14 = load ptr, ptr %13, align 8
  %15 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %16 = sext i32 %15 to i64
  %17 = getelementptr inbounds double, ptr %14, i64 %16
  %18 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %19 = sext i32 %18 to i64
  %20 = getelementptr inbounds double, ptr %17, i64 %19
  %21 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %22 = load ptr, ptr %21, align 8
  %23 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 2), align 4
  %24 = sub nsw i32 %23, 1
  %25 = sext i32 %24 to i64
  %26 = getelementptr inbounds double, ptr %22, i64 %25
  %27 = load double, ptr %26, align 8
  %28 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %29 = sext i32 %28 to i64
  %30 = mul i64 %29, 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %17, ptr align 8 %7, i64 %30, i1 false)
  br label %31

31:
  %.056 = phi i32 [ 0, %2 ], [ %73, %63 ]
  %32 = icmp slt i32 %.056, 7
  br i1 %32, label %33, label %74

33:
  %.054 = phi i32 [ %62, %54 ], [ 0, %31 ]
  %34 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %35 = icmp slt i32 %.054, %34
  %36 = icmp ne i32 %.056, 0
  %spec.select = select i1 %35, i1 %36, i1 false
  br i1 %spec.select, label %37, label %63

37:
  %.053 = phi i32 [ %53, %39 ], [ 0, %33 ]
  %.052 = phi double [ %52, %39 ], [ 0.000000e+00, %33 ]
  %38 = icmp slt i32 %.053, %.056
  br i1 %38, label %39, label %54

39:
  %40 = sext i32 %.056 to i64
  %41 = getelementptr inbounds [7 x [6 x double]], ptr @PART, i64 0, i64 %40
  %42 = sext i32 %.053 to i64
  %43 = getelementptr inbounds [6 x double], ptr %41, i64 0, i64 %42
  %44 = load double, ptr %43, align 8
  %45 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %46 = mul nsw i32 %.053, %45
  %47 = add nsw i32 %46, %.054
  %48 = sext i32 %47 to i64
  %49 = getelementptr inbounds double, ptr %20, i64 %48
  %50 = load double, ptr %49, align 8
  %51 = fmul double %44, %50
  %52 = fadd double %.052, %51
  %53 = add nsw i32 %.053, 1
  br label %37

54:
  %55 = sext i32 %.054 to i64
  %56 = getelementptr inbounds double, ptr %17, i64 %55
  %57 = load double, ptr %56, align 8
  %58 = fmul double %1, %.052
  %59 = fadd double %57, %58
  %60 = sext i32 %.054 to i64
  %61 = getelementptr inbounds double, ptr %7, i64 %60
  store double %59, ptr %61, align 8
  %62 = add nsw i32 %.054, 1
  br label %33

63:
  %64 = getelementptr inbounds %struct.Instance.1, ptr %0, i32 0, i32 0
  %65 = load ptr, ptr %64, align 8
  call void @model_evaluate(ptr %65)
  %66 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %67 = mul nsw i32 %.056, %66
  %68 = sext i32 %67 to i64
  %69 = getelementptr inbounds double, ptr %20, i64 %68
  %70 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %71 = sext i32 %70 to i64
  %72 = mul i64 %71, 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %69, ptr align 8 %12, i64 %72, i1 false)
  %73 = add nsw i32 %.056, 1
  br label %31

74:
  %.057 = phi double [ %..057, %103 ], [ 0.000000e+00, %31 ]
  %.155 = phi i32 [ %105, %103 ], [ 0, %31 ]
  %75 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %76 = icmp slt i32 %.155, %75
  br i1 %76, label %77, label %106

77:
  %.1 = phi i32 [ %91, %79 ], [ 0, %74 ]
  %.051 = phi double [ %90, %79 ], [ 0.000000e+00, %74 ]
  %78 = icmp slt i32 %.1, 7
  br i1 %78, label %79, label %92

79:
  %80 = sext i32 %.1 to i64
  %81 = getelementptr inbounds [7 x double], ptr @ERROR_OF, i64 0, i64 %80
  %82 = load double, ptr %81, align 8
  %83 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 4), align 4
  %84 = mul nsw i32 %.1, %83
  %85 = add nsw i32 %84, %.155
  %86 = sext i32 %85 to i64
  %87 = getelementptr inbounds double, ptr %20, i64 %86
  %88 = load double, ptr %87, align 8
  %89 = fmul double %82, %88
  %90 = fadd double %.051, %89
  %91 = add nsw i32 %.1, 1
  br label %77

92:
  %93 = fmul double %1, %.051
  %94 = call double @llvm.fabs.f64(double %93)
  %95 = sext i32 %.155 to i64
  %96 = getelementptr inbounds double, ptr %7, i64 %95
  %97 = load double, ptr %96, align 8
  %98 = call double @llvm.fabs.f64(double %97)
  %99 = fadd double 1.000000e+00, %98
  %100 = fmul double %27, %99
  %101 = fdiv double %94, %100
  %102 = fcmp ole double %101, 1.000000e+300
  br i1 %102, label %103, label %106

103:
  %104 = fcmp ogt double %101, %.057
  %..057 = select i1 %104, double %101, double %.057
  %105 = add nsw i32 %.155, 1
  br label %74

106:
  %.0 = phi double [ -1.000000e+00, %92 ], [ %.057, %74 ]
  ret double %.0
}

declare double @llvm.sqrt.f64(double)

define internal void @tidied(ptr %0) {
  br label %2

2:
  %.0 = phi i32 [ 0, %1 ], [ %44, %43 ]
  %3 = load i32, ptr getelementptr inbounds (%struct.Layout.0, ptr @model, i32 0, i32 11), align 8
  %4 = icmp slt i32 %.0, %3
  br i1 %4, label %5, label %45

5:
  %6 = sext i32 %.0 to i64
  %7 = getelementptr inbounds [0 x i32], ptr @model_quaternions, i64 0, i64 %6
  %8 = load i32, ptr %7, align 4
  %9 = sext i32 %8 to i64
  %10 = getelementptr inbounds double, ptr %0, i64 %9
  %11 = getelementptr inbounds double, ptr %10, i64 0
  %12 = load double, ptr %11, align 8
  %13 = getelementptr inbounds double, ptr %10, i64 0
  %14 = load double, ptr %13, align 8
  %15 = fmul double %12, %14
  %16 = getelementptr inbounds double, ptr %10, i64 1
  %17 = load double, ptr %16, align 8
  %18 = getelementptr inbounds double, ptr %10, i64 1
  %19 = load double, ptr %18, align 8
  %20 = fmul double %17, %19
  %21 = fadd double %15, %20
  %22 = getelementptr inbounds double, ptr %10, i64 2
  %23 = load double, ptr %22, align 8
  %24 = getelementptr inbounds double, ptr %10, i64 2
  %25 = load double, ptr %24, align 8
  %26 = fmul double %23, %25
  %27 = fadd double %21, %26
  %28 = getelementptr inbounds double, ptr %10, i64 3
  %29 = load double, ptr %28, align 8
  %30 = getelementptr inbounds double, ptr %10, i64 3
  %31 = load double, ptr %30, align 8
  %32 = fmul double %29, %31
  %33 = fadd double %27, %32
  %34 = call double @llvm.sqrt.f64(double %33)
  br label %35

35:
  %.016 = phi i32 [ 0, %5 ], [ %42, %37 ]
  %36 = icmp slt i32 %.016, 4
  br i1 %36, label %37, label %43

37:
  %38 = sext i32 %.016 to i64
  %39 = getelementptr inbounds double, ptr %10, i64 %38
  %40 = load double, ptr %39, align 8
  %41 = fdiv double %40, %34
  store double %41, ptr %39, align 8
  %42 = add nsw i32 %.016, 1
  br label %35

43:
  %44 = add nsw i32 %.0, 1
  br label %2

45:
  ret void
}

